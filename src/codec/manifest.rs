//! The MANIFEST: what kind of store this is. Two copies in one file, each with its own checksum.

use crate::codec::bytes::{Reader, Writer};
use crate::codec::features::Features;
use crate::codec::{FORMAT, unknown_format};
use crate::error::{Error, ErrorKind, Result};
use crate::memory::limits::SPACES_MAX;
use crate::memory::{Calibration, Space};

const MAGIC: &[u8; 8] = b"MNEMIC\0M";
/// The largest MANIFEST that is read.
pub(crate) const BYTES_MAX: u64 = 16 << 20;

/// The facts of a store that are fixed, or change only with its embedding model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) store_id: [u8; 16],
    pub(crate) shards: u32,
    pub(crate) suite: u8,
    /// Embedding spaces by number; vectors name theirs. The last one is current.
    pub(crate) spaces: Vec<Space>,
    pub(crate) features: Features,
    /// What compatible features that this version does not know have put behind the rest: kept as it is.
    pub(crate) extra: Vec<u8>,
}

impl Manifest {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut body = Writer::default();
        self.features.put(&mut body);
        body.raw(&self.store_id).u32(self.shards).u8(self.suite).u32(self.spaces.len() as u32);
        for space in &self.spaces {
            encode_space(&mut body, space);
        }
        let body = body.raw(&self.extra).finish();
        let mut copy = Writer::default();
        copy.raw(MAGIC).u8(FORMAT).block(&body).u32(crc32fast::hash(&body));
        copy.finish().repeat(2)
    }

    /// Reads the first copy that is whole.
    ///
    /// # Errors
    ///
    /// `Unsupported`: of another format, or with a feature that this version does not know. `Corrupt`.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self> {
        let (first, second) = bytes.split_at(bytes.len() / 2);
        decode_copy(first).or_else(|error| match decode_copy(second) {
            // What is wrong with the first says more: the copies of another format may lie elsewhere.
            Err(_) if error.kind() == ErrorKind::Unsupported => Err(error),
            other => other,
        })
    }
}

fn decode_copy(bytes: &[u8]) -> Result<Manifest> {
    let mut input = Reader::new(bytes, "MANIFEST");
    if input.array::<8>()? != *MAGIC {
        return Err(input.corrupt());
    }
    let format = input.u8()?;
    if format != FORMAT {
        return Err(unknown_format("MANIFEST", format));
    }
    let body = input.block()?;
    if input.u32()? != crc32fast::hash(body) {
        return Err(input.corrupt());
    }
    input.end()?;
    decode_body(body)
}

fn decode_body(body: &[u8]) -> Result<Manifest> {
    let mut input = Reader::new(body, "MANIFEST");
    let features = Features::take(&mut input)?;
    let (store_id, shards, suite) = (input.array()?, input.u32()?, input.u8()?);
    let count = input.count(16)?;
    if count > SPACES_MAX || !crate::memory::limits::SHARDS.contains(&(shards as usize)) {
        return Err(input.corrupt());
    }
    let spaces = (0..count).map(|_| decode_space(&mut input)).collect::<Result<_>>()?;
    let extra = input.rest().to_vec();
    if features.compatible.is_empty() {
        input.end()?;
    }
    Ok(Manifest { store_id, shards, suite, spaces, features, extra })
}

fn encode_space(out: &mut Writer, space: &Space) {
    out.block(space.model.as_bytes()).u32(space.dims as u32);
    let calibration = space.calibration;
    out.f64(calibration.lo()).f64(calibration.hi()).u32(calibration.version());
    out.u32(space.languages.len() as u32);
    space.languages.iter().for_each(|language| _ = out.block(language.as_bytes()));
    let mean = space.mean.as_deref().unwrap_or_default();
    out.u32(mean.len() as u32);
    mean.iter().for_each(|x| _ = out.u32(x.to_bits()));
}

fn decode_space(input: &mut Reader<'_>) -> Result<Space> {
    let malformed = |_| Error::corrupt("MANIFEST: malformed space");
    let (model, dims) = (input.text()?, input.u32()? as usize);
    let (lo, hi, version) = (input.f64()?, input.f64()?, input.u32()?);
    let languages = (0..input.count(4)?).map(|_| input.text()).collect::<Result<Vec<_>>>()?;
    let mean = (0..input.count(4)?).map(|_| input.u32().map(f32::from_bits)).collect::<Result<Vec<_>>>()?;
    let calibration = Calibration::with_version(lo, hi, version).map_err(malformed)?;
    let mut space = Space::new(&model, dims).and_then(|s| s.languages(languages)).map_err(malformed)?;
    space.calibration = calibration;
    space.mean = (!mean.is_empty()).then_some(mean);
    Ok(space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_damaged_copy_is_survived_and_two_are_corrupt() {
        let spaces = vec![Space::new("minilm", 384).unwrap().languages(["en"]).unwrap()];
        let features = Features { compatible: ["hints".to_owned()].into(), ..Features::default() };
        let manifest = Manifest { store_id: [7; 16], shards: 4, suite: 1, spaces, features, extra: vec![9; 5] };
        let bytes = manifest.encode();
        for i in 0..bytes.len() {
            let mut bad = bytes.clone();
            bad[i] ^= 0x10;
            assert_eq!(Manifest::decode(&bad).unwrap(), manifest, "byte {i}");
        }
        assert!(Manifest::decode(&[]).is_err());
        assert!(Manifest::decode(&bytes[..bytes.len() / 2 - 1]).is_err());
    }
}
