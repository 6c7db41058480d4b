mod ranking;
mod speed;
mod twin;
