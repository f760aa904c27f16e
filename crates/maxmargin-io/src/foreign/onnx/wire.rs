//! The wire format of Protocol Buffers, as much of it as writing takes.
//!
//! ```text
//! field   = tag value        tag = varint(number · 8 + kind)
//! value   = varint           kind 0: whole numbers, 64-bit two's complement
//!         | length bytes     kind 2: texts, messages, packed numbers; the length is a varint
//! ```

/// A message that grows field by field.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// A whole number.
    pub(super) fn number(mut self, field: u32, value: i64) -> Self {
        self.varint(u64::from(field) << 3);
        self.varint(value as u64);
        self
    }

    /// A text.
    pub(super) fn text(self, field: u32, value: &str) -> Self {
        self.bytes(field, value.as_bytes())
    }

    /// A message within this one.
    pub(super) fn message(self, field: u32, inner: &Message) -> Self {
        self.bytes(field, &inner.0)
    }

    /// Numbers in single precision, packed.
    pub(super) fn singles(mut self, field: u32, values: &[f32]) -> Self {
        self.head(field, values.len() * 4);
        values.iter().for_each(|value| self.0.extend_from_slice(&value.to_le_bytes()));
        self
    }

    /// Whole numbers, packed.
    pub(super) fn numbers(self, field: u32, values: &[i64]) -> Self {
        let mut packed = Message::default();
        values.iter().for_each(|&value| packed.varint(value as u64));
        self.message(field, &packed)
    }

    /// The message as bytes.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.head(field, bytes.len());
        self.0.extend_from_slice(bytes);
        self
    }

    fn head(&mut self, field: u32, length: usize) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(length as u64);
    }

    /// Seven bits a byte, the lowest first; the eighth says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_the_bytes_of_the_specification() {
        // Both examples are of the specification's own page on encoding.
        assert_eq!(Message::default().number(1, 150).into_bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().text(2, "testing").into_bytes(), b"\x12\x07testing");
        assert_eq!(Message::default().numbers(6, &[3, 270, 86942]).into_bytes(), b"\x32\x06\x03\x8e\x02\x9e\xa7\x05");
        let minus = Message::default().number(1, -2).into_bytes();
        assert_eq!(minus, [0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]);
        let inner = Message::default().number(1, 150);
        assert_eq!(Message::default().message(3, &inner).into_bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(Message::default().singles(4, &[1.0]).into_bytes(), [0x22, 4, 0, 0, 0x80, 0x3f]);
    }
}
