//! Numbers as bytes: a JSON header, then lists of numbers as they are in memory, which the page looks at without a copy.
//!
//! ```text
//! length of the header (u32, little-endian) | header, filled up with blanks to a multiple of 8 | parts, each at a multiple of 8
//! ```
//!
//! The header's `parts` say where each list begins (counted from the end of the header), of which type it is, and how many numbers it has.

use serde::Serialize;

/// Where a list is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Part {
    name: &'static str,
    r#type: &'static str,
    at: usize,
    count: usize,
}

/// Lists of numbers under their names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    bytes: Vec<u8>,
}

impl Parts {
    pub(crate) fn f64(&mut self, name: &'static str, values: &[f64]) {
        self.add(name, "f64", values.len(), values.iter().flat_map(|value| value.to_le_bytes()));
    }

    pub(crate) fn f32(&mut self, name: &'static str, values: &[f32]) {
        self.add(name, "f32", values.len(), values.iter().flat_map(|value| value.to_le_bytes()));
    }

    pub(crate) fn u8(&mut self, name: &'static str, values: &[u8]) {
        self.add(name, "u8", values.len(), values.iter().copied());
    }

    fn add(&mut self, name: &'static str, r#type: &'static str, count: usize, bytes: impl Iterator<Item = u8>) {
        self.parts.push(Part { name, r#type, at: self.bytes.len(), count });
        self.bytes.extend(bytes);
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
    }

    /// The whole packet, with a header that has these fields, too.
    pub(crate) fn packet(&self, fields: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
        #[derive(Serialize)]
        struct Header<'a, T> {
            parts: &'a [Part],
            #[serde(flatten)]
            fields: &'a T,
        }
        let mut header = serde_json::to_vec(&Header { parts: &self.parts, fields })?;
        // The four bytes of the length come before.
        header.resize((header.len() + 4).next_multiple_of(8) - 4, b' ');
        let mut packet = u32::try_from(header.len()).unwrap_or(0).to_le_bytes().to_vec();
        packet.append(&mut header);
        packet.extend_from_slice(&self.bytes);
        Ok(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_begin_at_multiples_of_eight_and_come_back() {
        let mut parts = Parts::default();
        parts.u8("kind", &[1, 2, 3]);
        parts.f64("alpha", &[0.1, -2.5]);
        parts.f32("grid", &[1.5]);
        let packet = parts.packet(&serde_json::json!({ "stop": "converged" })).unwrap();
        let length = u32::from_le_bytes(packet[..4].try_into().unwrap()) as usize;
        assert_eq!((length + 4) % 8, 0);
        let header: serde_json::Value = serde_json::from_slice(&packet[4..4 + length]).unwrap();
        assert_eq!(header["stop"], "converged");
        let at = |k: usize| 4 + length + header["parts"][k]["at"].as_u64().unwrap() as usize;
        assert_eq!(packet[at(0)..at(0) + 3], [1, 2, 3]);
        assert_eq!(packet[at(1)..at(1) + 8], 0.1f64.to_le_bytes());
        assert_eq!(packet[at(2)..], [1.5f32.to_le_bytes().to_vec(), vec![0; 4]].concat());
        assert!((0..3).all(|k| header["parts"][k]["at"].as_u64().unwrap().is_multiple_of(8)));
    }
}
