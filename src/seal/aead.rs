use aes_gcm::aead::AeadInOut;
use aes_gcm::aead::inout::InOutBuf;
use aes_gcm::{Aes256Gcm, KeyInit};
use chacha20poly1305::XChaCha20Poly1305;

use crate::codec::frame::{NONCE_BYTES, TAG_BYTES};
use crate::codec::keyring::Wrapped;
use crate::error::{Error, Result};
use crate::seal::Key;

/// Which cipher a store seals with; fixed at creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suite {
    /// AES-256-GCM under a key derived from the chunk key and the random nonce of each value.
    Aes256Gcm = 1,
    /// XChaCha20-Poly1305, for CPUs without AES.
    XChaCha20Poly1305 = 2,
}

impl Suite {
    /// The fastest on this CPU.
    pub(crate) fn best() -> Self {
        if has_aes() { Self::Aes256Gcm } else { Self::XChaCha20Poly1305 }
    }

    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_code(code: u8) -> Result<Self> {
        match code {
            1 => Ok(Self::Aes256Gcm),
            2 => Ok(Self::XChaCha20Poly1305),
            _ => Err(Error::newer(format!("cipher suite {code}"))),
        }
    }

    /// Encrypts `buffer` from `start` on in place and appends the tag.
    pub(crate) fn encrypt(
        self,
        key: &Key,
        nonce: &[u8; NONCE_BYTES],
        associated: &[u8],
        buffer: &mut Vec<u8>,
        start: usize,
    ) -> Result<()> {
        let text = (&mut buffer[start..]).into();
        let tag: [u8; TAG_BYTES] = match self {
            Self::Aes256Gcm => {
                gcm(key, nonce).encrypt_inout_detached(&[0; 12].into(), associated, text).map(Into::into)
            }
            Self::XChaCha20Poly1305 => XChaCha20Poly1305::new(key.bytes().into())
                .encrypt_inout_detached(nonce.into(), associated, text)
                .map(Into::into),
        }
        .map_err(|_| Error::unsupported("value too large to seal"))?;
        buffer.extend_from_slice(&tag);
        Ok(())
    }

    /// Decrypts a body with its tag at the end; `None` where it does not authenticate.
    pub(crate) fn decrypt(
        self,
        key: &Key,
        nonce: &[u8; NONCE_BYTES],
        associated: &[u8],
        body: &[u8],
    ) -> Option<Vec<u8>> {
        let mut text = vec![0; body.len().checked_sub(TAG_BYTES)?];
        self.decrypt_into(key, nonce, associated, body, &mut text)?;
        Some(text)
    }

    /// The same into `text`, which is as long as the body without its tag; what it holds after a failure is noise.
    pub(crate) fn decrypt_into(
        self,
        key: &Key,
        nonce: &[u8; NONCE_BYTES],
        associated: &[u8],
        body: &[u8],
        text: &mut [u8],
    ) -> Option<()> {
        let (sealed, tag) = body.split_last_chunk::<TAG_BYTES>()?;
        let buffer = InOutBuf::new(sealed, text).ok()?;
        sabotage!(3, {
            // Counter mode undoes itself, so this is what opening without a look at the tag would give.
            let _ = gcm(key, nonce).encrypt_inout_detached(&[0; 12].into(), associated, buffer);
            return Some(());
        });
        match self {
            Self::Aes256Gcm => gcm(key, nonce).decrypt_inout_detached(&[0; 12].into(), associated, buffer, tag.into()),
            Self::XChaCha20Poly1305 => XChaCha20Poly1305::new(key.bytes().into()).decrypt_inout_detached(
                nonce.into(),
                associated,
                buffer,
                tag.into(),
            ),
        }
        .ok()
    }

    /// Seals a key under another.
    pub(crate) fn wrap(self, under: &Key, nonce: [u8; NONCE_BYTES], associated: &[u8], key: &Key) -> Result<Wrapped> {
        let mut out = nonce.to_vec();
        out.extend_from_slice(key.bytes());
        self.encrypt(under, &nonce, associated, &mut out, NONCE_BYTES)?;
        Wrapped::try_from(out).map_err(|_| Error::unsupported("key of unexpected length"))
    }

    /// Opens a sealed key; `None` where it does not authenticate.
    pub(crate) fn unwrap(self, under: &Key, associated: &[u8], wrapped: &Wrapped) -> Option<Key> {
        let (nonce, body) = wrapped.split_first_chunk::<NONCE_BYTES>()?;
        let bytes = zeroize::Zeroizing::new(self.decrypt(under, nonce, associated, body)?);
        Some(Key::new(bytes.as_slice().try_into().ok()?))
    }
}

/// GCM's own nonce is 12 bytes, too few to be random: the 24 random bytes go into the key instead.
fn gcm(key: &Key, nonce: &[u8; NONCE_BYTES]) -> Aes256Gcm {
    Aes256Gcm::new((&key.mac(&[nonce])).into())
}

#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
fn has_aes() -> bool {
    std::arch::is_x86_feature_detected!("aes") && std::arch::is_x86_feature_detected!("pclmulqdq")
}

#[cfg(target_arch = "aarch64")]
fn has_aes() -> bool {
    std::arch::is_aarch64_feature_detected!("aes")
}

#[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
fn has_aes() -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_suites_open_what_they_sealed_and_nothing_else() {
        for suite in [Suite::Aes256Gcm, Suite::XChaCha20Poly1305] {
            let (key, other, nonce) = (Key::new([1; 32]), Key::new([2; 32]), [3; NONCE_BYTES]);
            let mut sealed = b"head".to_vec();
            sealed.extend_from_slice(b"secret");
            suite.encrypt(&key, &nonce, b"place", &mut sealed, 4).unwrap();
            assert_eq!(&sealed[..4], b"head");
            let body = &sealed[4..];
            assert_eq!(suite.decrypt(&key, &nonce, b"place", body).unwrap(), b"secret");
            assert!(suite.decrypt(&other, &nonce, b"place", body).is_none());
            assert!(suite.decrypt(&key, &nonce, b"elsewhere", body).is_none());
            for i in 0..body.len() {
                let mut bad = body.to_vec();
                bad[i] ^= 1;
                assert!(suite.decrypt(&key, &nonce, b"place", &bad).is_none());
            }
        }
    }
}
