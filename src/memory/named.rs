//! Enums with a code on disk and a name for people.

/// An enum with a stable code on disk and a stable name for people, readable from both.
macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident, $field:literal { $($(#[$doc:meta])* $variant:ident = $code:literal, $text:literal;)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* $variant = $code,)+
        }

        impl $name {
            /// Every member, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name, in lower case.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The member with this code, if there is one.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The code on disk.
            pub const fn code(self) -> u8 {
                self as u8
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::error::Error;

            fn from_str(text: &str) -> crate::error::Result<Self> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => Err(crate::error::Error::invalid(concat!(
                        $field, ": not one of", $(" ", $text),+
                    ))),
                }
            }
        }
    };
}
pub(crate) use named_enum;
