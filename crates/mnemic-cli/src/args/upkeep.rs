//! Commands on a whole store.

use clap::Args;

#[derive(Args)]
pub(crate) struct SnapshotArgs {
    /// List the snapshots
    #[arg(long, conflicts_with = "delete")]
    pub(crate) list: bool,
    /// Delete a snapshot
    #[arg(long, value_name = "ID")]
    pub(crate) delete: Option<String>,
}

#[derive(Args)]
pub(crate) struct RestoreArgs {
    /// The snapshot
    pub(crate) id: String,
    /// With every user of the snapshot
    #[arg(long)]
    pub(crate) all_users: bool,
}

#[derive(Args)]
pub(crate) struct MaintainArgs {
    /// Stop after about so long
    #[arg(long, value_name = "N", default_value_t = 60)]
    pub(crate) seconds: u64,
}

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Put right what is damaged, as far as it can be, and name what is gone
    #[arg(long)]
    pub(crate) repair: bool,
}

#[derive(Args)]
pub(crate) struct RotateArgs {
    /// Environment variable that holds the new passphrase
    #[arg(long, value_name = "VAR", conflicts_with = "new_key_file")]
    pub(crate) new_passphrase_env: Option<String>,
    /// A key file beside the store instead of a passphrase
    #[arg(long)]
    pub(crate) new_key_file: bool,
}
