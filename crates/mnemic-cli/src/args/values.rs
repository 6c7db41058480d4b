//! Values with a form of their own.

use mnemic::memory::{MetaValue, Timestamp};

/// An instant: ISO 8601.
pub(super) fn instant(text: &str) -> Result<Timestamp, String> {
    crate::time::parse(text).map_err(|error| error.to_string())
}

/// `subject.attribute`; an attribute may hold further dots.
pub(super) fn slot(text: &str) -> Result<(String, String), String> {
    let (subject, attribute) = text.split_once('.').ok_or("not subject.attribute, such as user.city")?;
    Ok((subject.to_owned(), attribute.to_owned()))
}

/// `key=value`, read as an integer, a float, a bool, or else as text.
pub(super) fn metadata(text: &str) -> Result<(String, MetaValue), String> {
    let (key, value) = text.split_once('=').ok_or("not key=value")?;
    Ok((key.to_owned(), typed(value)))
}

fn typed(value: &str) -> MetaValue {
    if let Ok(integer) = value.parse::<i64>() {
        return integer.into();
    }
    let number =
        value.parse::<f64>().ok().filter(|_| value.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)));
    match (number, value) {
        (Some(number), _) if number.is_finite() => number.into(),
        (_, "true") => true.into(),
        (_, "false") => false.into(),
        _ => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_takes_the_type_that_it_looks_like() {
        let typed = |text| metadata(text).unwrap().1;
        assert_eq!(typed("a=12"), MetaValue::Integer(12));
        assert_eq!(typed("a=-1.5"), MetaValue::Float(-1.5));
        assert_eq!(typed("a=true"), MetaValue::Bool(true));
        for text in ["a=", "a=inf", "a=-inf", "a=NaN", "a=1.2.3", "a=True", "a=x=y"] {
            assert!(matches!(typed(text), MetaValue::Text(_)), "{text}");
        }
        assert!(metadata("a").is_err());
    }

    #[test]
    fn a_slot_has_two_parts() {
        assert_eq!(slot("user.home.city").unwrap(), ("user".to_owned(), "home.city".to_owned()));
        assert!(slot("city").is_err());
    }
}
