use super::*;

/// Wednesday.
const NOW: &str = "2023-11-15T10:00:00Z";

fn now() -> i64 {
    NOW.parse::<Timestamp>().unwrap().as_micros()
}

fn meaning(text: &str) -> Vec<(String, String, String)> {
    let show = |micros| Timestamp::from_micros(micros).to_string()[..10].to_owned();
    let all = time_expressions(text, now());
    all.into_iter().map(|e| (e.text, show(e.interval.from), show(e.interval.to))).collect()
}

fn assert_means(cases: &[(&str, &str, &str, &str)]) {
    for (text, matched, from, to) in cases {
        let wanted = vec![((*matched).to_owned(), (*from).to_owned(), (*to).to_owned())];
        assert_eq!(meaning(text), wanted, "{text}");
    }
}

#[test]
fn english_dates_mean_their_days() {
    assert_means(&[
        ("What did she do on 7 May 2023?", "7 may 2023", "2023-05-07", "2023-05-07"),
        ("on May 7th, 2022 we met", "may 7th, 2022", "2022-05-07", "2022-05-07"),
        ("the 3rd of December", "3rd of december", "2022-12-03", "2022-12-03"),
        ("who was ill in May 2023?", "may 2023", "2023-05-01", "2023-05-31"),
        ("where was he in may", "may", "2023-05-01", "2023-05-31"),
        ("the trip in December", "december", "2022-12-01", "2022-12-31"),
        ("logged 2023-05-07.", "2023-05-07", "2023-05-07", "2023-05-07"),
        ("on 10.01.2023, in the park", "10.01.2023", "2023-01-10", "2023-01-10"),
        ("on December 1,2022.", "december 1,2022", "2022-12-01", "2022-12-01"),
        ("on 31/12/2022", "31/12/2022", "2022-12-31", "2022-12-31"),
        ("the summer of 2022", "summer of 2022", "2022-06-01", "2022-08-31"),
        ("the beginning of May 2023", "may 2023", "2023-05-01", "2023-05-10"),
        ("in late February", "february", "2023-02-21", "2023-02-28"),
        ("the second week of May", "may", "2023-05-08", "2023-05-14"),
        ("the week before 10 May 2023", "10 may 2023", "2023-05-03", "2023-05-10"),
        ("back in 2021", "2021", "2021-01-01", "2021-12-31"),
    ]);
}

#[test]
fn english_relative_times_count_from_now() {
    assert_means(&[
        ("what did I say yesterday?", "yesterday", "2023-11-14", "2023-11-14"),
        ("the day before yesterday", "day before yesterday", "2023-11-13", "2023-11-13"),
        ("3 days ago", "3 days ago", "2023-11-12", "2023-11-12"),
        ("two months ago", "two months ago", "2023-09-01", "2023-09-30"),
        ("a couple of weeks ago", "a couple of weeks ago", "2023-10-30", "2023-11-05"),
        ("last week", "last week", "2023-11-06", "2023-11-12"),
        ("last weekend", "last weekend", "2023-11-11", "2023-11-12"),
        ("last month", "last month", "2023-10-01", "2023-10-31"),
        ("this year", "this year", "2023-01-01", "2023-12-31"),
        ("next month", "next month", "2023-12-01", "2023-12-31"),
        ("last Friday", "last friday", "2023-11-10", "2023-11-10"),
        ("last November", "last november", "2022-11-01", "2022-11-30"),
        ("last summer", "last summer", "2023-06-01", "2023-08-31"),
        ("in the past two weeks", "past two weeks", "2023-11-01", "2023-11-15"),
        ("on Wednesday", "wednesday", "2023-11-08", "2023-11-08"),
    ]);
}

#[test]
fn chinese_times_mean_their_days() {
    assert_means(&[
        ("我三天前说了什么？", "三天前", "2023-11-12", "2023-11-12"),
        ("上周我去了哪里", "上周", "2023-11-06", "2023-11-12"),
        ("上周三开会", "上周三", "2023-11-08", "2023-11-08"),
        ("上个星期天", "上个星期天", "2023-11-12", "2023-11-12"),
        ("我去年养了什么", "去年", "2022-01-01", "2022-12-31"),
        ("去年夏天", "去年夏天", "2022-06-01", "2022-08-31"),
        ("去年五月", "去年五月", "2022-05-01", "2022-05-31"),
        ("5月7日的会议", "5月7日", "2023-05-07", "2023-05-07"),
        ("十二月二十五号", "十二月二十五号", "2022-12-25", "2022-12-25"),
        ("2023年5月", "2023年5月", "2023-05-01", "2023-05-31"),
        ("２０２３年５月７日", "2023年5月7日", "2023-05-07", "2023-05-07"),
        ("昨天晚上", "昨天", "2023-11-14", "2023-11-14"),
        ("两个月之前", "两个月之前", "2023-09-01", "2023-09-30"),
        ("半年前", "半年前", "2023-05-01", "2023-05-31"),
        ("上个月", "上个月", "2023-10-01", "2023-10-31"),
        ("上个月5号", "上个月5号", "2023-10-05", "2023-10-05"),
        ("最近三天", "最近三天", "2023-11-12", "2023-11-15"),
        ("这周末", "这周末", "2023-11-18", "2023-11-19"),
    ]);
}

#[test]
fn words_that_only_look_like_times_mean_none() {
    for text in ["may I march on?", "she sat in the sun", "spring into action", "room 2023", "", "周围", "第三天"]
    {
        assert_eq!(meaning(text), vec![], "{text}");
    }
}

#[test]
fn a_match_is_whole_inside_and_halves_outside() {
    let day = Timestamp::DAY_MICROS;
    let interval = Interval { from: 0, to: day - 1 };
    assert_eq!(interval.meets(0), 1.0);
    assert_eq!(interval.meets(day - 1), 1.0);
    assert!((interval.meets(4 * day) - 0.5).abs() < 1e-6);
    assert!((interval.meets(-3 * day) - 0.5).abs() < 1e-6);
    assert!(interval.meets(i64::MAX) < 1e-9 && interval.meets(i64::MIN) < 1e-9);
    assert_eq!(time_match(&[], 0, &[interval]), 0.0);
}

#[test]
fn the_calendar_counts_more_than_what_is_said_in_passing() {
    let at = |text: &str, day: &str| {
        time_match(&question_times(text, now()), day.parse::<Timestamp>().unwrap().as_micros(), &[])
    };
    assert_eq!(at("what happened on 14 November 2023?", "2023-11-14"), 1.0);
    assert_eq!(at("what happened yesterday?", "2023-11-14"), 0.25);
    assert_eq!(at("what happened today?", "2023-11-15"), 0.1);
    assert_eq!(at("昨天太累了。我养的猫叫什么？", "2023-11-14"), 0.0);
    assert_eq!(at("太累了。我昨天说了什么？", "2023-11-14"), 0.25);
}

#[test]
fn a_memory_also_meets_the_times_that_it_tells_of() {
    let told: Vec<_> = time_expressions("we went camping last month", now()).iter().map(|t| t.interval).collect();
    assert_eq!(time_match(&question_times("the trip in October 2023", now()), now(), &told), 1.0);
}

proptest::proptest! {
    #[test]
    fn any_text_at_any_time_gives_intervals_in_order(text in "\\PC{0,60}", now: i64) {
        for expression in time_expressions(&text, now) {
            proptest::prop_assert!(expression.interval.from <= expression.interval.to);
        }
    }

    #[test]
    fn anything_like_a_time_is_read_without_panic(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "last", "in", "may", "31", "9999", "2023", "ago", "年", "月", "十", "三", "前", "上", "周", "天", "个", " ", "-", "/",
                "99999999999", "weeks", "years", "of", "几", "日", "feb", "最近", "week", "past", "the",
            ]),
            0..12,
        ),
        now in -300_000_000_000_000_000i64..300_000_000_000_000_000,
    ) {
        time_expressions(&parts.concat(), now);
        time_expressions(&parts.join(" "), now);
    }
}
