use mnemic::world::testing::SplitMix64;

use super::{Seed, TARGETS};
use crate::check::{Check, Say};

/// Inputs of a target whose bytes are choices, and how long each is.
const CHOICES: [(&str, [usize; 3]); 2] = [("filter", [8, 24, 60]), ("stateful", [120, 400, 800])];

/// The inputs to start from: target, name and bytes of each. The seed decides the choices of those that make some.
///
/// # Errors
///
/// None is to be expected.
pub fn corpus(seed: u64) -> Result<Vec<Seed>, String> {
    let mut all = Vec::new();
    let samples = mnemic::samples().say("samples")?;
    for target in TARGETS {
        let own = samples.iter().filter(|(of, _)| target.parsers.contains(of));
        all.extend(
            own.enumerate()
                .map(|(at, (of, bytes))| (target.name, format!("{}-{at}", of.replace(' ', "-")), bytes.clone())),
        );
    }
    let lines = samples.iter().filter(|(of, _)| *of == "export line");
    let export: Vec<u8> = lines.flat_map(|(_, line)| [line.as_slice(), b"\n"].concat()).collect();
    all.push(("import", "lines".to_owned(), export));
    all.extend(choices(seed)?);
    Ok(all)
}

fn choices(seed: u64) -> Check<Vec<Seed>> {
    let random = &mut SplitMix64::new(seed);
    let mut all = Vec::new();
    for (target, lengths) in CHOICES {
        for length in lengths {
            let bytes: Vec<u8> = (0..length).map(|_| random.below(256) as u8).collect();
            super::check(target, &bytes)?;
            all.push((target, format!("choices-{length}"), bytes));
        }
    }
    Ok(all)
}
