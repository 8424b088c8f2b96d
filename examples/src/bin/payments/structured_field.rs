//! Strings of RFC 9651, *Structured Field Values for HTTP*.
//!
//! Only what a field needs whose value is an Item of type String: the String itself, and the parameters behind it,
//! which may be of any type and are read over.

/// The value of `field` if it is one String, with or without parameters; `None` if it is anything else. `field` comes
/// without spaces around it (RFC 9651, section 4.2.3).
pub(crate) fn string_item(field: &[u8]) -> Option<Vec<u8>> {
    let mut input = Input(field);
    let value = input.string()?;
    input.parameters()?;
    input.0.is_empty().then_some(value)
}

/// What is left to read. Each method takes one thing off the front, or answers `None` if something else stands there.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Takes bytes as long as they are `wanted`, and says how many.
    fn skip(&mut self, wanted: impl Fn(u8) -> bool) -> usize {
        let count = self.0.iter().take_while(|byte| wanted(**byte)).count();
        self.0 = &self.0[count..];
        count
    }

    /// Section 4.2.5. The only escapes are `\"` and `\\`.
    fn string(&mut self) -> Option<Vec<u8>> {
        self.expect(b'"')?;
        let mut value = Vec::new();
        loop {
            match self.next()? {
                b'"' => return Some(value),
                b'\\' => value.push(self.next().filter(|byte| matches!(byte, b'"' | b'\\'))?),
                byte @ 0x20..=0x7e => value.push(byte),
                _ => return None,
            }
        }
    }

    /// Section 4.2.3.2. A space may stand behind a semicolon, never before one.
    fn parameters(&mut self) -> Option<()> {
        while self.peek() == Some(b';') {
            self.next();
            self.skip(|byte| byte == b' ');
            self.parameter_name()?;
            if self.peek() == Some(b'=') {
                self.next();
                self.bare_item()?;
            }
        }
        Some(())
    }

    /// Section 4.2.3.3.
    fn parameter_name(&mut self) -> Option<()> {
        self.next().filter(|byte| matches!(byte, b'a'..=b'z' | b'*'))?;
        self.skip(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'*'));
        Some(())
    }

    /// Section 4.2.3.1: the first byte tells the type.
    fn bare_item(&mut self) -> Option<()> {
        match self.peek()? {
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            b'A'..=b'Z' | b'a'..=b'z' | b'*' => self.token(),
            b':' => self.byte_sequence(),
            b'?' => self.boolean(),
            b'@' => self.date(),
            b'%' => self.display_string(),
            _ => None,
        }
    }

    /// Section 4.2.4: at most 15 digits, or 12 and 3 with a point between them.
    fn number(&mut self) -> Option<Number> {
        if self.peek() == Some(b'-') {
            self.next();
        }
        let whole = self.skip(|byte| byte.is_ascii_digit());
        if self.peek() != Some(b'.') {
            return (1..=15).contains(&whole).then_some(Number::Integer);
        }
        self.next();
        let fraction = self.skip(|byte| byte.is_ascii_digit());
        ((1..=12).contains(&whole) && (1..=3).contains(&fraction)).then_some(Number::Decimal)
    }

    /// Section 4.2.6.
    fn token(&mut self) -> Option<()> {
        self.skip(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte));
        Some(())
    }

    /// Section 4.2.7. The bytes are not needed, so it is enough that they are in the alphabet.
    fn byte_sequence(&mut self) -> Option<()> {
        self.expect(b':')?;
        self.skip(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        self.expect(b':')
    }

    /// Section 4.2.8.
    fn boolean(&mut self) -> Option<()> {
        self.expect(b'?')?;
        self.next().filter(|byte| matches!(byte, b'0' | b'1')).map(drop)
    }

    /// Section 4.2.9: whole seconds.
    fn date(&mut self) -> Option<()> {
        self.expect(b'@')?;
        matches!(self.number()?, Number::Integer).then_some(())
    }

    /// Section 4.2.10: UTF-8, with `%` and two lower-case hexadecimal digits for what is not printable ASCII.
    fn display_string(&mut self) -> Option<()> {
        self.expect(b'%')?;
        self.expect(b'"')?;
        let mut value = Vec::new();
        loop {
            match self.next()? {
                b'"' => return std::str::from_utf8(&value).ok().map(drop),
                b'%' => {
                    let high = hexadecimal(self.next()?)?;
                    value.push(16 * high + hexadecimal(self.next()?)?);
                }
                byte @ 0x20..=0x7e => value.push(byte),
                _ => return None,
            }
        }
    }
}

enum Number {
    Integer,
    Decimal,
}

fn hexadecimal(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::string_item;

    #[test]
    fn parameters_of_every_type_are_read_over() {
        for parameters in [
            ";v",
            ";v=1",
            ";v=-12.345",
            ";v=\"x;y\"",
            ";v=tok/en",
            ";v=:aGk=:",
            ";v=?1",
            ";v=@1700000000",
            ";v=%\"f%c3%bc\"",
            ";  *a_b-c.d=1;e",
        ] {
            let field = format!("\"abc\"{parameters}");
            assert_eq!(string_item(field.as_bytes()).as_deref(), Some(b"abc".as_slice()), "{field}");
        }
    }

    #[test]
    fn malformed_parameters_spoil_the_field() {
        for parameters in [
            ";",
            ";V=1",
            " ;v=1",
            ";v=",
            ";v= 1",
            ";v=1.",
            ";v=1.2345",
            ";v=1234567890123456",
            ";v=-",
            ";v=\"x",
            ";v=:a",
            ";v=?2",
            ";v=@1.5",
            ";v=%\"%C3\"",
            ";v=%\"%ff\"",
            ";v=1 ;w",
            ";1=v",
            ",",
        ] {
            let field = format!("\"abc\"{parameters}");
            assert_eq!(string_item(field.as_bytes()), None, "{field}");
        }
    }
}
