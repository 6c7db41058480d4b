//! Who is remembered, and what.

use mnemic::memory::{Kind, NewMemory, Timestamp};

/// A memory before it is stored: how old, of what kind, how important.
pub(crate) struct Line {
    pub(crate) days: u32,
    kind: Kind,
    importance: f32,
    text: &'static str,
    slot: Option<(&'static str, &'static str)>,
}

const fn line(days: u32, kind: Kind, importance: f32, text: &'static str) -> Line {
    Line { days, kind, importance, text, slot: None }
}

const fn fact(days: u32, text: &'static str, attribute: &'static str, value: &'static str) -> Line {
    Line { days, kind: Kind::Fact, importance: 1.0, text, slot: Some((attribute, value)) }
}

/// Where Ada's home stands in her lines.
pub(crate) const HOME: usize = 0;
/// Where Ada's two lunches begin in her lines.
pub(crate) const LUNCH: usize = 4;
/// Where Ada's music stands in her lines.
pub(crate) const JAZZ: usize = 8;

pub(crate) const ADA: [Line; 12] = [
    fact(420, "Home is in Paris, near the canal", "city", "Paris"),
    fact(365, "Is allergic to peanuts", "allergy", "peanuts"),
    line(12, Kind::Preference, 0.9, "Prefers a window seat on the train"),
    line(60, Kind::Rejection, 0.8, "Turned down an aisle seat near the door"),
    line(3, Kind::Episode, 0.6, "Had lunch at the noodle bar"),
    line(300, Kind::Episode, 0.6, "Had lunch at the harbour"),
    line(45, Kind::Goal, 0.8, "Wants to run a half marathon in spring"),
    line(2, Kind::Task, 0.9, "Has to renew the passport before going to Japan"),
    line(150, Kind::Preference, 0.7, "Listens to jazz while working"),
    line(30, Kind::Preference, 0.7, "Likes coffee black, without sugar"),
    line(90, Kind::Procedure, 0.8, "Buys train tickets on Tuesdays, when they are cheap"),
    line(5, Kind::Action, 0.5, "Was recommended the night train to Vienna"),
];

pub(crate) const WEI: [Line; 12] = [
    fact(400, "住在上海浦东", "city", "上海"),
    fact(200, "对海鲜过敏", "allergy", "海鲜"),
    line(12, Kind::Preference, 0.9, "坐高铁喜欢靠窗的座位"),
    line(25, Kind::Rejection, 0.8, "不吃香菜"),
    line(6, Kind::Episode, 0.6, "上周和同事在外滩吃了火锅"),
    line(410, Kind::Episode, 0.6, "去年夏天在成都吃了火锅"),
    line(90, Kind::Goal, 0.8, "想在年底前学会弹吉他"),
    line(2, Kind::Task, 0.9, "下个月要去北京出差"),
    line(80, Kind::Preference, 0.7, "喜欢喝龙井茶"),
    line(30, Kind::Fact, 0.9, "女儿今年上小学一年级"),
    line(14, Kind::Procedure, 0.8, "每天早上六点跑步五公里"),
    line(50, Kind::Action, 0.5, "推荐过一家苏州的民宿"),
];

impl Line {
    pub(crate) fn memory(&self, now: Timestamp) -> NewMemory {
        let memory = NewMemory::new(self.kind, self.text)
            .importance(self.importance)
            .created_at(now.plus_days(-f64::from(self.days)));
        match self.slot {
            Some((attribute, value)) => memory.slot("user", attribute).value(value),
            None => memory,
        }
    }
}
