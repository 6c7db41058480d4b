//! The same properties over every kernel.

use proptest::prelude::*;

use super::bounds::{BOUND_LANES, BoundConsts, BoundRows};
use super::quantise::{PlanedQuery, quantise_query, quantise_row};
use super::{Dispatch, Kernel, Slab, exp2_fast, float_dot, padded, scalar};

/// A small generator, so that inputs are the same everywhere.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn unit(&mut self) -> f32 {
        self.next() as f32 / (1u64 << 30) as f32 - 1.0
    }

    fn floats(&mut self, len: usize) -> Vec<f32> {
        (0..len).map(|_| self.unit()).collect()
    }
}

fn dims() -> impl Iterator<Item = usize> {
    (1..=130).chain([384, 768, 1024, 1536])
}

fn naive_sums(query: &PlanedQuery, rows: &[u8]) -> Vec<i32> {
    let whole = |(&q, &x): (&i16, &u8)| i64::from(q) * (i64::from(x) - 128);
    let row = |row: &[u8]| query.whole().iter().zip(row).map(whole).sum::<i64>() as i32;
    rows.chunks(query.stride()).map(row).collect()
}

fn check_scan(kernel: Dispatch, query: &PlanedQuery, rows: &[u8]) {
    let mut sums = vec![7; rows.len() / query.stride()];
    kernel.scan_i8(query, rows, &mut sums);
    assert_eq!(sums, naive_sums(query, rows), "{}", kernel.kernel());
}

fn scan_equals_naive_for_all_dims(kernel: Dispatch) {
    let mut numbers = Numbers(1);
    for dims in dims() {
        let query = quantise_query(&numbers.floats(dims));
        for count in [0, 1, 3, 7, 8, 9, 21] {
            let bytes: Vec<u8> = (0..=count * padded(dims)).map(|_| numbers.next() as u8).collect();
            check_scan(kernel, &query, &bytes[1..]);
        }
    }
}

fn scan_survives_extremes(kernel: Dispatch) {
    for dims in [64, 384, 1536, 4096] {
        for value in [0x00, 0x01, 0x7f, 0x80, 0x81, 0xff] {
            let rows = vec![value; 11 * dims];
            for q in [i16::MIN, -32512, -129, -128, -1, 0, 127, 128, 255, 256, 32512, 32639] {
                check_scan(kernel, &PlanedQuery::from_whole(vec![q; dims]), &rows);
            }
        }
    }
}

fn dot_equals_scalar(kernel: Dispatch) {
    let mut numbers = Numbers(2);
    for dims in dims() {
        let (a, b) = (numbers.floats(dims + 1), numbers.floats(dims + 1));
        let (a, b) = (&a[1..], &b[1..]);
        assert_eq!(kernel.dot(a, b).to_bits(), scalar::dot(a, b).to_bits(), "dims {dims}");
        assert!((kernel.dot(a, b) - float_dot(a, b)).abs() < 1e-3);
        let huge: Vec<f32> = a.iter().map(|x| x * f32::MAX).collect();
        let small: Vec<f32> = b.iter().map(|x| x * f32::MIN_POSITIVE).collect();
        assert_eq!(kernel.dot(&huge, &huge).to_bits(), scalar::dot(&huge, &huge).to_bits());
        assert_eq!(kernel.dot(&small, &small).to_bits(), scalar::dot(&small, &small).to_bits());
    }
}

fn consts(numbers: &mut Numbers) -> BoundConsts {
    let floor = [0.0, 0.5, 0.9][numbers.next() as usize % 3];
    BoundConsts {
        query_scale: 1e-5,
        query_norm: 1.0,
        err: 2e-6,
        gain: 1.0 + numbers.unit().abs(),
        offset_up: 1e-6,
        offset_down: -1e-6,
        halvings: numbers.unit().abs() * 4.0,
        since: numbers.unit() * 50.0,
        shift: if floor == 0.0 { numbers.unit() * 30.0 } else { 0.0 },
        ceiling: 1.0 + numbers.unit().abs(),
        floor,
        span: 1.0 - floor,
        slack: 1e-5,
        slack_per_exponent: 4.8e-7,
        threshold: numbers.unit().abs(),
    }
}

fn bounds_equal_scalar(kernel: Dispatch) {
    let mut numbers = Numbers(3);
    let scalar = Dispatch::new(Kernel::Scalar).expect("always there");
    for groups in 0..9 {
        let len = groups * BOUND_LANES;
        let sums: Vec<i32> = (0..len).map(|_| numbers.next() as i32 - (1 << 30)).collect();
        let columns: Vec<Vec<f32>> =
            (0..6).map(|_| (0..len).map(|_| numbers.unit().abs()).collect::<Vec<f32>>()).collect();
        let [scale, err, weight, rate, ago, extra] = &columns[..] else { unreachable!("six columns") };
        let rows = BoundRows { sums: &sums, scale, err, weight, rate, ago, extra };
        let c = consts(&mut numbers);
        let run = |kernel: Dispatch| {
            let (mut up, mut down, mut marks) = (vec![0.0; len], vec![0.0; len], vec![0; groups]);
            kernel.bounds(&rows, &c, &mut up, &mut down, &mut marks);
            let bits = |v: &[f32]| v.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            (bits(&up), bits(&down), marks)
        };
        assert_eq!(run(kernel), run(scalar), "{}", kernel.kernel());
    }
}

fn quantising_equals_scalar(kernel: Dispatch) {
    let mut numbers = Numbers(5);
    for dims in dims() {
        let values = numbers.floats(dims);
        let (mut mine, mut twins) = (vec![1; padded(dims)], vec![2; padded(dims)]);
        assert_eq!(kernel.quantise_row(&values, &mut mine), quantise_row(&values, &mut twins));
        assert_eq!(mine, twins);
        let (mine, twin) = (kernel.quantise_query(&values), quantise_query(&values));
        assert_eq!((mine.whole(), mine.hi(), mine.lo()), (twin.whole(), twin.hi(), twin.lo()));
        assert_eq!((mine.scale, mine.err_norm, mine.planed_norm, mine.norm), {
            (twin.scale, twin.err_norm, twin.planed_norm, twin.norm)
        });
    }
}

macro_rules! every_kernel {
    ($($property:ident),+ $(,)?) => {
        $(#[test]
        fn $property() {
            for kernel in Kernel::available() {
                super::$property(Dispatch::new(kernel).expect("available"));
            }
        })+
    };
}

mod all {
    use super::{Dispatch, Kernel};
    every_kernel!(
        scan_equals_naive_for_all_dims,
        scan_survives_extremes,
        dot_equals_scalar,
        bounds_equal_scalar,
        quantising_equals_scalar
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn the_vnni_body_equals_naive_under_its_other_encoding() {
    if !Kernel::Avx512Vnni.is_available() {
        return;
    }
    let mut numbers = Numbers(4);
    for dims in dims() {
        let query = quantise_query(&numbers.floats(dims));
        let rows: Vec<u8> = (0..13 * padded(dims)).map(|_| numbers.next() as u8).collect();
        let mut sums = vec![0; 13];
        // SAFETY: the features were detected above.
        unsafe { super::avx_vnni::evex::scan(&query, &rows, &mut sums) };
        assert_eq!(sums, naive_sums(&query, &rows));
    }
}

#[test]
fn names_round_trip_and_scalar_is_always_there() {
    for kernel in Kernel::ALL {
        assert_eq!(kernel.name().parse(), Ok(kernel));
        assert_eq!(Dispatch::new(kernel).is_some(), Kernel::available().any(|k| k == kernel));
    }
    assert!("sse9".parse::<Kernel>().is_err());
    assert!(Kernel::compiled().count() >= Kernel::available().count());
}

#[test]
fn exp2_is_close_everywhere() {
    let mut worst = 0.0f64;
    for i in -1_260_000i32..=1_260_000 {
        let x = i as f32 * 1e-4;
        worst = worst.max((f64::from(exp2_fast(x)) / libm::exp2(f64::from(x)) - 1.0).abs());
    }
    assert!(worst < 3e-7, "relative error {worst:e}");
    assert!(exp2_fast(f32::NEG_INFINITY) == exp2_fast(-126.0) && exp2_fast(0.0) == 1.0);
}

#[test]
fn pieces_are_aligned_zeroed_and_apart() {
    for size in [1, 64, 3 << 20] {
        let mut slab = Slab::new(3 * size);
        let mut pieces: Vec<_> = (0..9).map(|_| slab.cut(size)).collect();
        drop(slab);
        for (i, piece) in pieces.iter_mut().enumerate() {
            let bytes = piece.as_mut_slice();
            assert_eq!((bytes.len(), bytes.as_ptr().addr() % 64), (size.next_multiple_of(64), 0));
            assert!(bytes.iter().all(|&x| x == 0));
            bytes.fill(i as u8 + 1);
        }
        pieces.remove(4);
        let kept = pieces.iter().map(super::slab::Piece::as_slice);
        assert!(kept.zip([1, 2, 3, 4, 6, 7, 8, 9]).all(|(bytes, i)| bytes.iter().all(|&x| x == i)));
    }
    assert!(Slab::new(0).cut(0).as_slice().is_empty());
}

fn check_error_bound(row: &[f32], query: &[f32]) {
    let mut bytes = vec![0; padded(row.len())];
    let scale = quantise_row(row, &mut bytes);
    let planes = quantise_query(query);
    let mut sum = [0];
    Dispatch::best().scan_i8(&planes, &bytes, &mut sum);
    let near = f64::from(sum[0]) * f64::from(scale.scale) * f64::from(planes.scale);
    let bound =
        f64::from(planes.planed_norm) * f64::from(scale.err_norm) + f64::from(planes.err_norm) * f64::from(scale.norm);
    let off = (scalar::dot(query, row) - near).abs();
    assert!(off <= bound * (1.0 + 1e-9) + 1e-12, "{off} > {bound}");
}

proptest! {
    #[test]
    fn the_error_bound_holds(pairs in prop::collection::vec((-1f32..1.0, -1f32..1.0), 1..200), sparse in any::<bool>()) {
        let keep = |i: usize, x: f32| if sparse && !i.is_multiple_of(17) { 0.0 } else { x };
        let row: Vec<f32> = pairs.iter().enumerate().map(|(i, p)| keep(i, p.0)).collect();
        let query: Vec<f32> = pairs.iter().map(|p| p.1).collect();
        check_error_bound(&row, &query);
        check_error_bound(&row, &row);
        check_error_bound(&vec![0.0; row.len()], &query);
        check_error_bound(&vec![f32::MIN_POSITIVE / 4.0; row.len()], &vec![0.0; row.len()]);
    }
}
