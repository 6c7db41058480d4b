mod ranking;
mod twin;
