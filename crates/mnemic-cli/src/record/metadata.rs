//! Metadata as JSON: a number with a fraction or an exponent is a float, any other an integer.

use mnemic::memory::{MetaValue, Metadata};
use serde_json::{Map, Value};

pub(super) fn to_json(metadata: &Metadata) -> Map<String, Value> {
    metadata.iter().map(|(key, value)| (key.clone(), value_to_json(value))).collect()
}

pub(super) fn from_json(key: &str, value: &Value) -> Result<MetaValue, String> {
    let read = match value {
        Value::String(text) => Some(text.clone().into()),
        Value::Bool(value) => Some((*value).into()),
        Value::Number(number) if number.is_f64() => number.as_f64().map(MetaValue::from),
        Value::Number(number) => number.as_i64().map(MetaValue::from),
        Value::Array(items) => texts(items).map(MetaValue::from),
        Value::Null | Value::Object(_) => None,
    };
    read.ok_or_else(|| format!("metadata {key:?}: not a text, a 64-bit number, true or false, or a list of texts"))
}

fn texts(items: &[Value]) -> Option<Vec<String>> {
    items.iter().map(|item| item.as_str().map(str::to_owned)).collect()
}

fn value_to_json(value: &MetaValue) -> Value {
    match value {
        MetaValue::Text(text) => Value::from(text.as_str()),
        MetaValue::Integer(number) => Value::from(*number),
        MetaValue::Float(number) => Value::from(*number),
        MetaValue::Bool(value) => Value::from(*value),
        MetaValue::List(texts) => Value::from(texts.clone()),
    }
}
