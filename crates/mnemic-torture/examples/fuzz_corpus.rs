//! Writes the inputs that the fuzz targets start from: `cargo run -p mnemic-torture --example fuzz_corpus -- 7`.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(7), |seed| seed.parse())?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (target, name, bytes) in mnemic_torture::fuzz::corpus(seed)? {
        std::fs::create_dir_all(root.join(target))?;
        std::fs::write(root.join(target).join(name), bytes)?;
    }
    Ok(())
}
