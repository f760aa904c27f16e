//! The values of a column of a group of rows: as numbers, as texts, as labels.

use maxmargin::data::{Label, Missing, Values};
use parquet::basic::ConvertedType;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, ByteArrayType, DataType};
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use super::{ParquetFile, damaged, other_damage};
use crate::columns::{not_finite, too_large};
use crate::error::Error;
use crate::limits::{most_bytes, too_much};
use crate::table::{is_missing, missing_help};

/// Takes the row of a text and the text, where there is one.
type TextVisitor<'v> = dyn FnMut(usize, Option<&str>) -> Result<(), Error> + 'v;
/// Takes a value, where there is one.
type ValueVisitor<'v, V> = dyn FnMut(Option<&V>) -> Result<(), Error> + 'v;
/// Values read at a time.
pub(super) const BATCH: usize = 1 << 16;

impl ParquetFile {
    /// A column of numbers, NaN where one is missing. Infinite ones are a fault when it is `finite`.
    pub(super) fn read_some_numbers(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        finite: bool,
    ) -> Result<Vec<f64>, Error> {
        let unsigned = is_unsigned(descriptor);
        let values = match reader {
            ColumnReader::FloatColumnReader(reader) => {
                self.read_some(reader, descriptor, place, rows, |&value| f64::from(value))?
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.read_some(reader, descriptor, place, rows, |&value| value)?
            }
            ColumnReader::BoolColumnReader(reader) => {
                self.read_some(reader, descriptor, place, rows, |&value| f64::from(u8::from(value)))?
            }
            ColumnReader::Int32ColumnReader(reader) => self.read_some(reader, descriptor, place, rows, |&value| {
                if unsigned { f64::from(value as u32) } else { f64::from(value) }
            })?,
            ColumnReader::Int64ColumnReader(reader) => {
                let lossy = std::cell::Cell::new(None);
                let values = self.read_some(reader, descriptor, place, rows, |&value| {
                    let whole = if unsigned { i128::from(value as u64) } else { i128::from(value) };
                    if whole as f64 as i128 != whole && lossy.get().is_none() {
                        lossy.set(Some(whole));
                    }
                    whole as f64
                })?;
                if let Some(whole) = lossy.get().filter(|_| finite) {
                    let row = values.iter().position(|&value| value == whole as f64).unwrap_or(0);
                    let row = self.done + row as u64 + 1;
                    return Err(too_large(&self.origin, &whole.to_string(), row, &self.shown(place)));
                }
                values
            }
            _ => return Err(other_damage(&self.origin, "a column is of another type than it says")),
        };
        match values.iter().position(|value| value.is_infinite()).filter(|_| finite) {
            Some(row) => Err(not_finite(&self.origin, values[row], self.done + row as u64 + 1, &self.shown(place))),
            None => Ok(values),
        }
    }

    /// All values of a column as numbers, NaN where one is missing.
    fn read_some<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<Vec<f64>, Error> {
        let mut all = Vec::new();
        let mut each = |found: Option<&T::T>| {
            all.push(found.map_or(f64::NAN, &number));
            Ok(())
        };
        self.each_value(&mut reader, descriptor, place, rows, BATCH, &mut each)?;
        Ok(all)
    }

    /// Hands out the texts of a column, and the rows that they are in.
    pub(super) fn each_text(
        &self,
        mut reader: ColumnReaderImpl<ByteArrayType>,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        batch: usize,
        each: &mut TextVisitor<'_>,
    ) -> Result<(), Error> {
        let mut row = 0;
        let mut text = |found: Option<&ByteArray>| {
            row += 1;
            match found.map(ByteArray::as_utf8) {
                None => each(row - 1, None),
                Some(Ok(text)) => each(row - 1, Some(text.trim())),
                Some(Err(_)) => Err(self.no_text(row - 1, place)),
            }
        };
        self.each_value(&mut reader, descriptor, place, rows, batch, &mut text)
    }

    /// Hands out the values of a column, `None` where one is missing.
    fn each_value<T: DataType>(
        &self,
        reader: &mut ColumnReaderImpl<T>,
        descriptor: &ColumnDescriptor,
        _: usize,
        rows: u64,
        most: usize,
        each: &mut ValueVisitor<'_, T::T>,
    ) -> Result<(), Error> {
        let highest = descriptor.max_def_level();
        let (mut values, mut levels): (Vec<T::T>, Vec<i16>) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < rows {
            levels.clear();
            values.clear();
            let batch = most.min((rows - read) as usize);
            let (records, found, _) = reader
                .read_records(batch, (highest > 0).then_some(&mut levels), None, &mut values)
                .map_err(|error| damaged(&self.origin, &error))?;
            if records == 0 {
                return Err(other_damage(&self.origin, "a column is shorter than the others"));
            }
            let mut present = values.iter().take(found);
            for record in 0..records {
                let is_there = highest == 0 || levels.get(record).is_some_and(|&level| level == highest);
                each(if is_there { present.next() } else { None })?;
            }
            read += records as u64;
        }
        Ok(())
    }

    fn no_text(&self, row: usize, place: usize) -> Error {
        Error::Content {
            path: self.origin.clone(),
            found: format!(
                "bytes that are not UTF-8 in row {}, column {}",
                self.done + row as u64 + 1,
                self.shown(place)
            ),
            expected: if Some(place) == self.chosen.label { "a label" } else { "text" }.into(),
            help: if Some(place) == self.chosen.label {
                "save the label column as text or numbers".into()
            } else {
                "save the column as text or numbers".into()
            },
        }
    }

    pub(super) fn missing_value(&self, row: u64, place: usize) -> Error {
        Error::Content {
            path: self.origin.clone(),
            found: format!("a missing value in row {row}, column {}", self.shown(place)),
            expected: "a value".into(),
            help: missing_help(),
        }
    }

    /// A column of numbers.
    pub(super) fn read_numbers(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
    ) -> Result<Values, Error> {
        let unsigned = is_unsigned(descriptor);
        let finite = |values: Vec<f64>| match values.iter().position(|value| !value.is_finite()) {
            None => Ok(values),
            Some(row) => Err(not_finite(&self.origin, values[row], self.done + row as u64 + 1, &self.shown(place))),
        };
        Ok(match reader {
            ColumnReader::FloatColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                finite(values.iter().map(|&value| f64::from(value)).collect())?;
                values.into()
            }
            ColumnReader::DoubleColumnReader(reader) => finite(self.read_all(reader, descriptor, place, rows)?)?.into(),
            ColumnReader::BoolColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                values.into_iter().map(|value| f32::from(u8::from(value))).collect::<Vec<f32>>().into()
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                let number = |value: i32| if unsigned { f64::from(value as u32) } else { f64::from(value) };
                values.into_iter().map(number).collect::<Vec<f64>>().into()
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                let mut numbers = Vec::with_capacity(values.len());
                for (row, value) in values.into_iter().enumerate() {
                    let whole = if unsigned { i128::from(value as u64) } else { i128::from(value) };
                    if whole as f64 as i128 != whole {
                        let row = self.done + row as u64 + 1;
                        return Err(too_large(&self.origin, &whole.to_string(), row, &self.shown(place)));
                    }
                    numbers.push(whole as f64);
                }
                numbers.into()
            }
            _ => return Err(other_damage(&self.origin, "a column is of another type than it says")),
        })
    }

    /// A column of labels.
    pub(super) fn read_labels(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        batch: usize,
    ) -> Result<Vec<Option<Label>>, Error> {
        if self.chosen.missing == Missing::Drop {
            return self.read_some_labels(reader, descriptor, place, rows, batch);
        }
        let labels = self.read_all_labels(reader, descriptor, place, rows, batch)?;
        Ok(labels.into_iter().map(Some).collect())
    }

    /// A column of labels, some of which may be missing.
    fn read_some_labels(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        batch: usize,
    ) -> Result<Vec<Option<Label>>, Error> {
        if let ColumnReader::ByteArrayColumnReader(reader) = reader {
            let (mut labels, mut left) = (Vec::new(), most_bytes(self.length));
            self.each_text(reader, descriptor, place, rows, batch, &mut |_, text| {
                let text = text.filter(|text| !is_missing(text));
                left = left
                    .checked_sub(text.map_or(0, str::len) as u64)
                    .ok_or_else(|| too_much(&self.origin, "longer labels than fit into it", "save shorter labels"))?;
                labels.push(text.map(Label::new));
                Ok(())
            })?;
            return Ok(labels);
        }
        let numbers = self.read_some_numbers(reader, descriptor, place, rows, true)?;
        Ok(numbers.into_iter().map(|value| (!value.is_nan()).then(|| Label::new(value.to_string()))).collect())
    }

    /// A column of labels, none of which may be missing.
    fn read_all_labels(
        &self,
        reader: ColumnReader,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        batch: usize,
    ) -> Result<Vec<Label>, Error> {
        let unsigned = is_unsigned(descriptor);
        let numbers = |numbers: Vec<f64>, text: &dyn Fn(usize) -> String| {
            let check = |row: usize| {
                if numbers[row].is_finite() {
                    Ok(Label::new(text(row)))
                } else {
                    Err(not_finite(&self.origin, numbers[row], self.done + row as u64 + 1, &self.shown(place)))
                }
            };
            (0..numbers.len()).map(check).collect::<Result<Vec<_>, _>>()
        };
        match reader {
            ColumnReader::FloatColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                numbers(values.iter().map(|&value| f64::from(value)).collect(), &|row| values[row].to_string())
            }
            ColumnReader::DoubleColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                numbers(values.clone(), &|row| values[row].to_string())
            }
            ColumnReader::BoolColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                Ok(values.into_iter().map(|value| Label::new(u8::from(value).to_string())).collect())
            }
            ColumnReader::Int32ColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                let text = |value: i32| if unsigned { (value as u32).to_string() } else { value.to_string() };
                Ok(values.into_iter().map(|value| Label::new(text(value))).collect())
            }
            ColumnReader::Int64ColumnReader(reader) => {
                let values = self.read_all(reader, descriptor, place, rows)?;
                let text = |value: i64| if unsigned { (value as u64).to_string() } else { value.to_string() };
                Ok(values.into_iter().map(|value| Label::new(text(value))).collect())
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                // Many rows may share one text, and each has its own copy from here on.
                let mut left = most_bytes(self.length);
                let check = |texts: &[ByteArray]| {
                    for text in texts {
                        left = left.checked_sub(text.len() as u64).ok_or_else(|| {
                            too_much(&self.origin, "longer labels than fit into it", "save shorter labels")
                        })?;
                    }
                    Ok(())
                };
                let values = self.read_all_by(reader, descriptor, place, rows, batch, check)?;
                let text = |(row, value): (usize, ByteArray)| match value.as_utf8() {
                    Ok(text) => Ok(Label::new(text)),
                    Err(_) => Err(self.no_text(row, place)),
                };
                values.into_iter().enumerate().map(text).collect()
            }
            _ => Err(other_damage(&self.origin, "a column is of another type than it says")),
        }
    }

    /// All values of a column, none of which may be missing.
    fn read_all<T: DataType>(
        &self,
        reader: ColumnReaderImpl<T>,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
    ) -> Result<Vec<T::T>, Error> {
        self.read_all_by(reader, descriptor, place, rows, BATCH, |_| Ok(()))
    }

    /// [`ParquetFile::read_all`], a bounded number of values at a time, each batch looked at by `check`.
    fn read_all_by<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        descriptor: &ColumnDescriptor,
        place: usize,
        rows: u64,
        most: usize,
        mut check: impl FnMut(&[T::T]) -> Result<(), Error>,
    ) -> Result<Vec<T::T>, Error> {
        let fault = |error: ParquetError| damaged(&self.origin, &error);
        let optional = descriptor.max_def_level() > 0;
        let (mut values, mut levels) = (Vec::new(), Vec::new());
        let mut read = 0;
        while read < rows {
            levels.clear();
            let (batch, before) = (most.min((rows - read) as usize), values.len());
            let (records, found, _) =
                reader.read_records(batch, optional.then_some(&mut levels), None, &mut values).map_err(fault)?;
            check(&values[before..])?;
            if records == 0 {
                return Err(other_damage(&self.origin, "a column is shorter than the others"));
            }
            if found < records {
                let missing = levels.iter().position(|&level| level < descriptor.max_def_level()).unwrap_or(0);
                return Err(self.missing_value(self.done + read + missing as u64 + 1, place));
            }
            read += records as u64;
        }
        Ok(values)
    }
}

fn is_unsigned(descriptor: &ColumnDescriptor) -> bool {
    matches!(
        descriptor.converted_type(),
        ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
    )
}
