use crate::error::{Error, Result};
use crate::memory::limits::{
    CALIBRATION_WIDTH_MIN, DIMS_MAX, DIMS_MIN, LANGUAGE_BYTES_MAX, NAME_BYTES_MAX, SPACE_LANGUAGES_MAX,
};
use crate::memory::record::check_name;

/// The cosines that count as "unrelated" and as "the same" in an embedding space.
///
/// The dense part of a score is `(cosine - lo) / (hi - lo)`, not clamped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
    pub(crate) version: u32,
}

impl Calibration {
    /// The raw cosine: lo 0, hi 1.
    pub const RAW: Self = Self { lo: 0.0, hi: 1.0, version: 0 };

    /// A calibration declared by the maker of an embedder.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid): not finite, or `hi - lo` under [`CALIBRATION_WIDTH_MIN`].
    pub fn new(lo: f64, hi: f64) -> Result<Self> {
        Self::with_version(lo, hi, 0)
    }

    pub(crate) fn with_version(lo: f64, hi: f64, version: u32) -> Result<Self> {
        if !lo.is_finite() || !hi.is_finite() || hi - lo < CALIBRATION_WIDTH_MIN {
            return Err(Error::invalid(format!("calibration: hi - lo must be at least {CALIBRATION_WIDTH_MIN}")));
        }
        Ok(Self { lo, hi, version })
    }

    /// The cosine that scores 0.
    pub fn lo(&self) -> f64 {
        self.lo
    }

    /// The cosine that scores 1.
    pub fn hi(&self) -> f64 {
        self.hi
    }

    /// 0 where declared, rising with each `Store::calibrate`.
    pub fn version(&self) -> u32 {
        self.version
    }
}

/// What stands for the number of a space in a row's facts; 0 for none.
pub(crate) fn space_code(number: Option<u32>) -> u8 {
    number.map_or(0, |number| u8::try_from(number + 1).unwrap_or(u8::MAX))
}

/// An embedding space: which model made the vectors, how long they are, and how its cosines read.
///
/// Vectors of two spaces are never compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Space {
    pub(crate) model: String,
    pub(crate) dims: usize,
    pub(crate) languages: Vec<String>,
    pub(crate) calibration: Calibration,
    pub(crate) mean: Option<Vec<f32>>,
}

impl Space {
    /// The space of `model` with vectors of `dims` numbers, raw cosines, any language.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid): an empty or overlong model name, or dims outside 8..=4096.
    pub fn new(model: &str, dims: usize) -> Result<Self> {
        check_name("space model", model, NAME_BYTES_MAX)?;
        if !(DIMS_MIN..=DIMS_MAX).contains(&dims) {
            return Err(Error::invalid(format!("space dims: {dims}, must be {DIMS_MIN} to {DIMS_MAX}")));
        }
        Ok(Self { model: model.to_owned(), dims, languages: Vec::new(), calibration: Calibration::RAW, mean: None })
    }

    /// Declares the calibration. Default: raw cosines.
    pub fn calibrated(mut self, calibration: Calibration) -> Self {
        self.calibration = calibration;
        self
    }

    /// Names the languages (BCP 47) that the model understands. Default: any.
    ///
    /// # Errors
    ///
    /// [`Invalid`](crate::ErrorKind::Invalid): more than 64, or one that is empty or overlong.
    pub fn languages<S: AsRef<str>>(mut self, languages: impl IntoIterator<Item = S>) -> Result<Self> {
        self.languages = languages.into_iter().map(|language| language.as_ref().to_owned()).collect();
        if self.languages.len() > SPACE_LANGUAGES_MAX {
            return Err(Error::invalid(format!("space languages: more than {SPACE_LANGUAGES_MAX}")));
        }
        for language in &self.languages {
            check_name("space language", language, LANGUAGE_BYTES_MAX)?;
        }
        Ok(self)
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Numbers in a vector.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// How its cosines read.
    pub fn calibration(&self) -> Calibration {
        self.calibration
    }

    /// Whether the other describes vectors of the same model and length.
    pub fn same_vectors(&self, other: &Self) -> bool {
        self.model == other.model && self.dims == other.dims
    }
}
