//! The models hold under the schedules that every test run tries; `--schedules 200000` tries the long form.

use std::process::Command;

#[test]
fn the_models_hold() {
    let output = Command::new(env!("CARGO_BIN_EXE_mnemic-shuttle"))
        .args(["--seed", "1", "--schedules", "2000"])
        .output()
        .expect("the program runs");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    let last = out.lines().last().unwrap_or_default();
    assert!(last.ends_with(" passed, 0 failed") && !last.starts_with("0 "), "{out}");
}
