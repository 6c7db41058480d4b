//! Which kernel runs, decided once.

use std::fmt;
use std::str::FromStr;

use super::bounds::{self, BOUND_LANES, BoundConsts, BoundRows};
use super::quantise::{self, PlanedQuery, RowScale};
use super::scalar;

/// The instruction sets that have a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kernel {
    /// Portable code.
    Scalar,
    /// x86-64 with AVX2.
    Avx2,
    /// x86-64 with AVX2 and the VEX form of VNNI.
    AvxVnni,
    /// x86-64 with AVX-512 and VNNI.
    Avx512Vnni,
    /// `AArch64`.
    Neon,
}

impl Kernel {
    /// All kernels, slowest first.
    pub(crate) const ALL: [Self; 5] = [Self::Scalar, Self::Neon, Self::Avx2, Self::AvxVnni, Self::Avx512Vnni];

    /// The name that [`FromStr`] reads.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::AvxVnni => "avxvnni",
            Self::Avx512Vnni => "avx512vnni",
            Self::Neon => "neon",
        }
    }

    /// Whether this build holds the kernel.
    pub(crate) fn is_compiled(self) -> bool {
        match self {
            Self::Scalar => true,
            Self::Avx2 | Self::AvxVnni | Self::Avx512Vnni => cfg!(target_arch = "x86_64"),
            Self::Neon => cfg!(target_arch = "aarch64"),
        }
    }

    /// Whether this build holds the kernel and this CPU runs it.
    pub(crate) fn is_available(self) -> bool {
        match self {
            Self::Scalar => true,
            Self::Neon => self.is_compiled(),
            Self::Avx2 | Self::AvxVnni | Self::Avx512Vnni => self.is_detected(),
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn is_detected(self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        let avx2 = has!("avx2");
        match self {
            Self::Avx2 => avx2,
            Self::AvxVnni => avx2 && has!("avxvnni"),
            _ => avx2 && has!("avx512f") && has!("avx512bw") && has!("avx512vl") && has!("avx512vnni"),
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn is_detected(self) -> bool {
        false
    }

    /// The kernels of this build.
    pub(crate) fn compiled() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kernel| kernel.is_compiled())
    }

    /// The kernels that run here.
    pub(crate) fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|kernel| kernel.is_available())
    }

    /// The fastest kernel that runs here.
    pub(crate) fn best() -> Self {
        Self::available().last().unwrap_or(Self::Scalar)
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no kernel has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownKernel(pub String);

impl fmt::Display for UnknownKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no kernel is called {:?}; there are scalar, neon, avx2, avxvnni, avx512vnni", self.0)
    }
}

impl std::error::Error for UnknownKernel {}

impl FromStr for Kernel {
    type Err = UnknownKernel;

    fn from_str(name: &str) -> Result<Self, UnknownKernel> {
        Self::ALL.into_iter().find(|k| k.name() == name).ok_or_else(|| UnknownKernel(name.to_owned()))
    }
}

/// A kernel that is known to run here. Only [`Dispatch::new`] and [`Dispatch::best`] make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dispatch(Kernel);

impl Dispatch {
    /// The given kernel, if it runs here.
    pub(crate) fn new(kernel: Kernel) -> Option<Self> {
        kernel.is_available().then_some(Self(kernel))
    }

    /// The fastest kernel that runs here.
    pub(crate) fn best() -> Self {
        Self(Kernel::best())
    }

    /// Which one it is.
    pub(crate) fn kernel(self) -> Kernel {
        self.0
    }

    /// Quantises a finite row into `out`, biased by 128 and padded; `out` holds [`padded`](super::padded) bytes.
    pub(crate) fn quantise_row(self, row: &[f32], out: &mut [u8]) -> RowScale {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a Dispatch holds only a kernel whose features were detected.
            Kernel::Avx512Vnni => unsafe { super::avx512::quantise_row(row, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above; both kernels include AVX2.
            Kernel::Avx2 | Kernel::AvxVnni => unsafe { super::avx2::quantise_row(row, out) },
            _ => quantise::quantise_row(row, out),
        }
    }

    /// Quantises a finite query so that no sum with any row can leave i32.
    pub(crate) fn quantise_query(self, query: &[f32]) -> PlanedQuery {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a Dispatch holds only a kernel whose features were detected.
            Kernel::Avx512Vnni => unsafe { super::avx512::quantise_query(query) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above; both kernels include AVX2.
            Kernel::Avx2 | Kernel::AvxVnni => unsafe { super::avx2::quantise_query(query) },
            _ => quantise::quantise_query(query),
        }
    }

    /// The integer sum of the query with each biased row; `rows` holds `out.len()` rows of its stride.
    pub(crate) fn scan_i8(self, query: &PlanedQuery, rows: &[u8], out: &mut [i32]) {
        assert_eq!(rows.len(), out.len() * query.stride(), "whole rows, one sum each");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a Dispatch holds only a kernel whose features were detected.
            Kernel::Avx512Vnni => unsafe { super::avx512::scan(query, rows, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernel::AvxVnni => unsafe { super::avx_vnni::scan(query, rows, out) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Kernel::Avx2 => unsafe { super::avx2::scan(query, rows, out) },
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => super::neon::scan(query, rows, out),
            _ => scalar::scan(query, rows, out),
        }
    }

    /// The dot product in f64: eight lanes (i mod 8) summed pairwise, the same bits on every kernel.
    pub(crate) fn dot(self, a: &[f32], b: &[f32]) -> f64 {
        assert_eq!(a.len(), b.len(), "vectors of one space");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a Dispatch holds only a kernel whose features were detected; all three include AVX2.
            Kernel::Avx2 | Kernel::AvxVnni | Kernel::Avx512Vnni => unsafe { super::avx2::dot(a, b) },
            #[cfg(target_arch = "aarch64")]
            Kernel::Neon => super::neon::dot(a, b),
            _ => scalar::dot(a, b),
        }
    }

    /// Reads all bytes and does nothing with them: the roof that a scan is measured against.
    #[cfg(feature = "testing")]
    pub(crate) fn read(self, bytes: &[u8]) -> u64 {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a Dispatch holds only a kernel whose features were detected.
            Kernel::Avx512Vnni => unsafe { super::avx512::read(bytes) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above; both kernels include AVX2.
            Kernel::Avx2 | Kernel::AvxVnni => unsafe { super::avx2::read(bytes) },
            _ => super::roof::read(bytes),
        }
    }

    /// Score bounds of each row; bit i of `marks[i / 16]` says that the upper one reaches the threshold.
    ///
    /// Bounds are in units of 2^shift. They are written only for groups that
    /// may hold a mark.
    pub(crate) fn bounds(
        self,
        rows: &BoundRows<'_>,
        c: &BoundConsts,
        up: &mut [f32],
        down: &mut [f32],
        marks: &mut [u16],
    ) {
        let len = marks.len() * BOUND_LANES;
        assert!(up.len() == len && down.len() == len, "one bound per lane");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: a Dispatch holds only a kernel whose features were detected.
            Kernel::Avx512Vnni => unsafe { super::avx512::bounds(rows, c, up, down, marks) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above; both kernels include AVX2.
            Kernel::Avx2 | Kernel::AvxVnni => unsafe { super::avx2::bounds(rows, c, up, down, marks) },
            _ => bounds::bounds(rows, c, up, down, marks),
        }
    }
}

impl Default for Dispatch {
    fn default() -> Self {
        Self::best()
    }
}
