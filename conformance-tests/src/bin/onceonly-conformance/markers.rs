//! The part of a file that is not written by hand.

/// A text in three parts.
#[derive(Debug)]
pub(crate) struct Marked<'a> {
    before: &'a str,
    inside: &'a str,
    after: &'a str,
}

/// There is no such part.
#[derive(Debug, thiserror::Error)]
#[error("the lines `{BEGIN}` and `{END}` must stand there once, in this order")]
pub(crate) struct MissingMarkers;

impl<'a> Marked<'a> {
    /// Looks for the lines that mark it.
    pub(crate) fn find(text: &'a str) -> Result<Self, MissingMarkers> {
        let (before, rest) = text.split_once(BEGIN).ok_or(MissingMarkers)?;
        let (inside, after) = rest.split_once(END).ok_or(MissingMarkers)?;
        if [before, inside, after].iter().any(|part| part.contains(BEGIN) || part.contains(END)) {
            return Err(MissingMarkers);
        }
        Ok(Self { before, inside, after })
    }

    /// What stands between the markers, without the blank lines beside them.
    pub(crate) fn inside(&self) -> &str {
        self.inside.strip_prefix("\n\n").and_then(|text| text.strip_suffix('\n')).unwrap_or(self.inside)
    }

    /// The text with something else between the markers.
    pub(crate) fn with(&self, inside: &str) -> String {
        let Self { before, after, .. } = self;
        format!("{before}{BEGIN}\n\n{inside}\n{END}{after}")
    }
}

const BEGIN: &str = "<!-- conformance: begin -->";
const END: &str = "<!-- conformance: end -->";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_between_the_markers_is_found_there_and_the_rest_stays() {
        let text = format!("before\n{BEGIN}\nold\n{END}\nafter\n");

        let new = Marked::find(&text).unwrap().with("| new |\n");

        assert_eq!(new, format!("before\n{BEGIN}\n\n| new |\n\n{END}\nafter\n"));
        assert_eq!(Marked::find(&new).unwrap().inside(), "| new |\n");
    }

    #[test]
    fn a_text_without_both_markers_once_and_in_order_is_refused() {
        for text in [
            "nothing".to_owned(),
            BEGIN.to_owned(),
            format!("{END}\n{BEGIN}"),
            format!("{BEGIN}\n{END}\n{BEGIN}\n{END}"),
        ] {
            assert!(Marked::find(&text).is_err(), "{text:?} was taken");
        }
    }
}
