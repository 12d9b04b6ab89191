//! What the caller of an open session may wish for.

use crate::{
    OpenError,
    settings::{flag, numbers},
};

/// A wish, as the bridge passes it: `key=value`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// `rates=PASSES,SAMPLES` a second; 0 samples: the CPU clock is off.
    Rates(u32, u32),
    /// `names=FRAME,…`: the names of these frames.
    Names(Vec<u32>),
    /// `places=FRAME,…`: inlined functions and source lines of these frames.
    Places(Vec<u32>),
    /// `probes.force=1`: sources may have many probes from now on.
    ForceProbes,
    /// `source.on=NUMBER SPEC`: this source of events is attached; the number is what the stream calls the source.
    SourceOn(u32, String),
    /// `source.off=NUMBER`: the source is detached, and its totals stay.
    SourceOff(u32),
}

impl Wish {
    /// The wish in this text.
    ///
    /// # Errors
    /// It cannot be understood.
    pub fn parse(text: &str) -> Result<Wish, OpenError> {
        let wish = text.split_once('=').and_then(|(key, value)| match key {
            "rates" => match numbers(value)?[..] {
                [pass_hz, cpu_hz] => Some(Wish::Rates(pass_hz, cpu_hz)),
                _ => None,
            },
            "names" => numbers(value).map(Wish::Names),
            "places" => numbers(value).map(Wish::Places),
            "probes.force" => flag(value).filter(|on| *on).map(|_| Wish::ForceProbes),
            "source.on" => {
                let (number, spec) = value.split_once(' ')?;
                Some(Wish::SourceOn(number.parse().ok()?, spec.to_owned()))
            }
            "source.off" => Some(Wish::SourceOff(value.parse().ok()?)),
            _ => None,
        });
        wish.ok_or_else(|| {
            let start: String = text.chars().take(100).collect();
            OpenError::failed(format!("wish not understood: `{start}`"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wish_is_understood() {
        for (text, wish) in [
            ("rates=49,0", Wish::Rates(49, 0)),
            ("names=", Wish::Names(Vec::new())),
            ("names=1,22,4294967295", Wish::Names(vec![1, 22, u32::MAX])),
            ("places=3", Wish::Places(vec![3])),
            ("probes.force=1", Wish::ForceProbes),
            (
                "source.on=7 usdt:/a b=c:d:e",
                Wish::SourceOn(7, "usdt:/a b=c:d:e".to_owned()),
            ),
            ("source.off=7", Wish::SourceOff(7)),
        ] {
            assert_eq!(Wish::parse(text), Ok(wish));
        }
    }

    #[test]
    fn a_wish_that_is_not_understood_is_named() {
        for text in [
            "",
            "rates",
            "rates=19",
            "rates=19,99,3",
            "rates=19,-1",
            "names=1;2",
            "places=x",
            "jvm.maps=1",
            "probes.force=0",
            "source.on=7",
            "source.on=x fault",
            "source.off=",
            "colour=blue",
        ] {
            let error = Wish::parse(text).expect_err(text);
            assert_eq!(error.code, 1);
            assert!(error.message.contains(text), "{}", error.message);
        }
    }
}
