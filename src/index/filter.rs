use std::ops::{BitAnd, BitOr, Not, Range};

use crate::error::{Error, Result};
use crate::index::attributes::{Attributes, Schema};
use crate::index::vector::Facts;
use crate::memory::limits::FILTER_NODES_MAX;
use crate::memory::{Evidence, Kind, MetaValue, Sensitivity, Timestamp};

/// What a memory must be to be a hit. Acts inside the scan, so a selective filter loses nothing.
///
/// ```
/// use mnemic::{memory::Kind, Comparison, Filter};
///
/// let filter = Filter::kind(Kind::Preference) & (Filter::tag("travel") | Filter::metadata("visits", Comparison::AtLeast, 3i64));
/// # let _ = filter;
/// ```
///
/// A memory without the named field does not match. Comparing metadata with a value of another type than the stored
/// ones is [`Invalid`](crate::ErrorKind::Invalid), and so are an empty list of alternatives and a filter of more than
/// 256 parts.
#[derive(Clone, PartialEq)]
pub struct Filter(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    All(Vec<Node>),
    Any(Vec<Node>),
    Not(Box<Node>),
    /// Stands for one that is nested deeper than a filter may have parts.
    TooDeep,
    Kind(Kind),
    Tag(String),
    Scene(String),
    Speaker(String),
    Language(String),
    Session(String),
    Slot(String, String),
    Evidence(Evidence),
    Pinned(bool),
    Created(Range<Timestamp>),
    Event(Range<Timestamp>),
    Metadata(String, Comparison, Wanted),
}

/// A value that traces may tell, which `MetaValue` itself does not.
#[derive(Clone, PartialEq)]
struct Wanted(MetaValue);

impl std::fmt::Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            MetaValue::Text(text) => write!(f, "{text:?}"),
            MetaValue::Integer(number) => write!(f, "{number}"),
            MetaValue::Float(number) => write!(f, "{number:?}"),
            MetaValue::Bool(value) => write!(f, "{value}"),
            MetaValue::List(texts) => write!(f, "{texts:?}"),
        }
    }
}

/// How metadata is compared with a value. Text is ordered byte by byte; integers and floats are one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// The same value.
    Equal,
    /// Another value.
    NotEqual,
    /// Less than the value.
    Below,
    /// Not more than the value.
    AtMost,
    /// More than the value.
    Above,
    /// Not less than the value.
    AtLeast,
    /// A list that holds the text.
    Contains,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $type:ty),+) => $node:expr;)+) => {
        impl Filter {
            $($(#[$doc])* pub fn $name($($argument: $type),+) -> Self { Self::bounded($node) })+
        }
    };
}

constructors! {
    /// Of this kind.
    kind(kind: Kind) => Node::Kind(kind);
    /// With this tag.
    tag(tag: impl Into<String>) => Node::Tag(tag.into());
    /// Of this scene.
    scene(scene: impl Into<String>) => Node::Scene(scene.into());
    /// Said by this speaker.
    speaker(speaker: impl Into<String>) => Node::Speaker(speaker.into());
    /// In this language.
    language(language: impl Into<String>) => Node::Language(language.into());
    /// A turn of this session.
    session(session: impl Into<String>) => Node::Session(session.into());
    /// About this slot.
    slot(subject: impl Into<String>, attribute: impl Into<String>) => Node::Slot(subject.into(), attribute.into());
    /// Known in this way.
    evidence(evidence: Evidence) => Node::Evidence(evidence);
    /// Pinned, or not.
    pinned(pinned: bool) => Node::Pinned(pinned);
    /// Created in this time, its end left out.
    created(range: Range<Timestamp>) => Node::Created(range);
    /// Happened in this time, its end left out. A memory that does not say when does not match.
    event(range: Range<Timestamp>) => Node::Event(range);
    /// With metadata that compares so.
    metadata(key: impl Into<String>, comparison: Comparison, value: impl Into<MetaValue>) =>
        Node::Metadata(key.into(), comparison, Wanted(value.into()));
    /// Passing every one of these.
    all_of(filters: impl IntoIterator<Item = Self>) => Node::All(filters.into_iter().map(|filter| filter.0).collect());
    /// Passing at least one of these.
    any_of(filters: impl IntoIterator<Item = Self>) => Node::Any(filters.into_iter().map(|filter| filter.0).collect());
}

impl BitAnd for Filter {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self::all_of([self, other])
    }
}

impl BitOr for Filter {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self::any_of([self, other])
    }
}

impl Not for Filter {
    type Output = Self;
    fn not(self) -> Self {
        Self::bounded(Node::Not(Box::new(self.0)))
    }
}

impl Filter {
    /// A filter of any depth can be dropped and compared: one that no query takes is cut off here.
    fn bounded(node: Node) -> Self {
        Self(if node.depth() > FILTER_NODES_MAX { Node::TooDeep } else { node })
    }

    /// The filter in words, for those who may see what it is about.
    pub(crate) fn words(&self) -> String {
        format!("{:?}", self.0)
    }

    /// Refuses what can't mean anything, and comparisons with values of another type than those that are stored.
    pub(crate) fn check(&self, schema: &Schema, level: Sensitivity) -> Result<()> {
        let mut left = FILTER_NODES_MAX;
        self.0.check(schema, level.code(), &mut left)
    }

    /// Whether a memory passes.
    pub(crate) fn passes(&self, facts: &Facts, attributes: Option<&Attributes>) -> bool {
        self.0.passes(facts, attributes)
    }
}

impl Node {
    fn depth(&self) -> usize {
        match self {
            Self::All(nodes) | Self::Any(nodes) => 1 + nodes.iter().map(Self::depth).max().unwrap_or(0),
            Self::Not(node) => 1 + node.depth(),
            _ => 1,
        }
    }

    fn check(&self, schema: &Schema, level: u8, left: &mut usize) -> Result<()> {
        let many = || Error::invalid(format!("filter: over {FILTER_NODES_MAX} parts"));
        *left = left.checked_sub(1).ok_or_else(many)?;
        match self {
            Self::TooDeep => Err(many()),
            Self::All(nodes) | Self::Any(nodes) => {
                if nodes.is_empty() {
                    return Err(Error::invalid("filter: an empty list of parts"));
                }
                nodes.iter().try_for_each(|node| node.check(schema, level, left))
            }
            Self::Not(node) => node.check(schema, level, left),
            Self::Created(range) | Self::Event(range) if range.start > range.end => {
                Err(Error::invalid("filter: a time range that ends before it begins"))
            }
            Self::Metadata(key, comparison, Wanted(value)) => check_metadata(schema, level, key, *comparison, value),
            _ => Ok(()),
        }
    }

    fn passes(&self, facts: &Facts, attributes: Option<&Attributes>) -> bool {
        let has = |test: &dyn Fn(&Attributes) -> bool| attributes.is_some_and(test);
        let is = |field: Option<&String>, wanted: &String| field == Some(wanted);
        match self {
            Self::All(nodes) => nodes.iter().all(|node| node.passes(facts, attributes)),
            Self::Any(nodes) => nodes.iter().any(|node| node.passes(facts, attributes)),
            Self::Not(node) => !node.passes(facts, attributes),
            Self::TooDeep => false,
            Self::Kind(kind) => facts.kind == kind.code(),
            Self::Pinned(pinned) => facts.pinned == *pinned,
            Self::Created(range) => range.contains(&Timestamp::from_micros(facts.created_at)),
            Self::Evidence(evidence) => attributes.map_or(Evidence::Stated, |a| a.evidence) == *evidence,
            Self::Tag(tag) => has(&|a| a.tags.binary_search(tag).is_ok()),
            Self::Scene(scene) => has(&|a| is(a.scene.as_ref(), scene)),
            Self::Speaker(speaker) => has(&|a| is(a.speaker.as_ref(), speaker)),
            Self::Language(language) => has(&|a| is(a.language.as_ref(), language)),
            Self::Session(session) => has(&|a| is(a.session.as_ref(), session)),
            Self::Slot(subject, attribute) => {
                has(&|a| a.slot.as_ref().is_some_and(|slot| slot.0 == *subject && slot.1 == *attribute))
            }
            Self::Event(range) => has(&|a| a.event_at.is_some_and(|at| range.contains(&at))),
            Self::Metadata(key, comparison, Wanted(value)) => {
                has(&|a| a.metadata(key).is_some_and(|stored| compare(stored, *comparison, value)))
            }
        }
    }
}

fn check_metadata(schema: &Schema, level: u8, key: &str, comparison: Comparison, value: &MetaValue) -> Result<()> {
    let asks = value.type_name();
    let ordered =
        matches!(comparison, Comparison::Below | Comparison::AtMost | Comparison::Above | Comparison::AtLeast);
    if ordered && matches!(value, MetaValue::Bool(_) | MetaValue::List(_)) {
        return Err(Error::invalid(format!("filter on metadata {key:?}: a {asks} has no order")));
    }
    if matches!(value, MetaValue::Float(number) if !number.is_finite()) {
        return Err(Error::invalid(format!("filter on metadata {key:?}: not a finite number")));
    }
    let list;
    let expected = match (comparison, value) {
        (Comparison::Contains, MetaValue::Text(_)) => {
            list = MetaValue::List(Vec::new());
            &list
        }
        (Comparison::Contains, _) => {
            return Err(Error::invalid(format!("filter on metadata {key:?}: a list holds texts, not a {asks}")));
        }
        _ => value,
    };
    match schema.other_type(key, expected, level) {
        Some(stored) => Err(Error::invalid(format!(
            "filter on metadata {key:?}: a {stored} is stored, compared as {}",
            expected.type_name()
        ))),
        None => Ok(()),
    }
}

fn compare(stored: &MetaValue, comparison: Comparison, value: &MetaValue) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    if let (Comparison::Contains, MetaValue::List(texts), MetaValue::Text(text)) = (comparison, stored, value) {
        return texts.contains(text);
    }
    let Some(order) = order(stored, value) else { return false };
    match comparison {
        Comparison::Equal => order == Equal,
        Comparison::NotEqual => order != Equal,
        Comparison::Below => order == Less,
        Comparison::AtMost => order != Greater,
        Comparison::Above => order == Greater,
        Comparison::AtLeast => order != Less,
        Comparison::Contains => false,
    }
}

/// The order of two values of one type. A float is compared with an integer exactly, not after rounding.
fn order(stored: &MetaValue, value: &MetaValue) -> Option<std::cmp::Ordering> {
    match (stored, value) {
        (MetaValue::Text(a), MetaValue::Text(b)) => Some(a.cmp(b)),
        (MetaValue::Bool(a), MetaValue::Bool(b)) => Some(a.cmp(b)),
        (MetaValue::List(a), MetaValue::List(b)) => Some(a.cmp(b)),
        (MetaValue::Integer(a), MetaValue::Integer(b)) => Some(a.cmp(b)),
        (MetaValue::Float(a), MetaValue::Float(b)) => a.partial_cmp(b),
        (MetaValue::Integer(a), MetaValue::Float(b)) => Some(order_mixed(*a, *b)),
        (MetaValue::Float(a), MetaValue::Integer(b)) => Some(order_mixed(*b, *a).reverse()),
        _ => None,
    }
}

fn order_mixed(integer: i64, float: f64) -> std::cmp::Ordering {
    // 2^63 and beyond lie outside i64; below that the floor of a float is one exactly.
    const END: f64 = 9_223_372_036_854_775_808.0;
    if float >= END {
        return std::cmp::Ordering::Less;
    }
    if float < -END {
        return std::cmp::Ordering::Greater;
    }
    let whole = libm::floor(float);
    let order = integer.cmp(&(whole as i64));
    if order.is_eq() && float > whole { std::cmp::Ordering::Less } else { order }
}

impl std::fmt::Debug for Filter {
    /// Its texts are of the user.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Filter(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_and_floats_compare_without_rounding() {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let cases = [
            (1, 1.0, Equal),
            (1, 1.5, Less),
            (2, 1.5, Greater),
            (-1, -1.5, Greater),
            (i64::MAX, 9.3e18, Less),
            (i64::MIN, -9.3e18, Greater),
            ((1 << 53) + 1, (1u64 << 53) as f64, Greater),
        ];
        for (integer, float, expected) in cases {
            assert_eq!(order_mixed(integer, float), expected, "{integer} {float}");
        }
    }

    #[test]
    fn a_filter_nested_without_end_is_refused_and_harms_nobody() {
        let nested = |depth| (0..depth).fold(Filter::kind(Kind::Note), |filter, _| !filter);
        let schema = Schema::default();
        assert!(nested(FILTER_NODES_MAX - 1).check(&schema, Sensitivity::Secret).is_ok());
        for depth in [FILTER_NODES_MAX, 1_000, 100_000] {
            let error = nested(depth).check(&schema, Sensitivity::Secret).unwrap_err();
            assert_eq!(error.message(), "filter: over 256 parts");
            drop(nested(depth) & nested(depth) | nested(depth));
        }
    }
}
