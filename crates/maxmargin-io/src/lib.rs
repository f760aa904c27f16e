//! Bytes to types and back: data files, model files, and saving so that a file is either whole or untouched.
//!
//! ```text
//! bytes --Reader, read_path, read_source, read_bytes--> Dataset --write_libsvm, write_csv--> bytes --save_atomically--> file
//! bytes --Reader::blocks_of_path, blocks_of_source--> RowBlocks, block after block in bounded memory
//! Model --save, save_model--> file --load_model--> Model
//! Checkpoint --save_checkpoint--> two files --load_checkpoint--> Checkpoint
//! file or pipe --Blocks--> Dataset, Dataset, ... --DataWriter--> file, in any format
//! ```
//!
//! Files compressed by gzip, bzip2, xz or zstd are decompressed as they are read. Reading never opens another file and runs no code; its memory is bounded by a small multiple of the bytes read.
//! Every error says what was found, where (`file:line:column`), what was expected, and the way out ([`Error::help`]).
//!
//! # Examples
//! ```
//! use maxmargin_io::{ReadOptions, read_bytes, write_csv};
//!
//! let data = read_bytes(b"+1 1:0.5 3:2\n-1 2:1\n", "example.svm", &ReadOptions::default())?;
//! assert_eq!((data.rows(), data.columns()), (2, 3));
//!
//! let mut table = Vec::new();
//! write_csv(&data, &mut table)?;
//! assert_eq!(table, b"0.5,0,2,+1\n0,1,0,-1\n");
//!
//! let error = read_bytes(b"+1 1:0.5 3:x\n", "example.svm", &ReadOptions::default()).unwrap_err();
//! assert_eq!(error.to_string(), r#"example.svm:1:12: found "x", expected a number"#);
//! # Ok::<(), maxmargin_io::Error>(())
//! ```
#![warn(missing_docs)]

mod arrow_file;
mod atomic;
mod binary;
mod block;
mod blocks;
mod cache_file;
mod cache_writer;
mod cells;
mod checkpoint_file;
mod columns;
mod compressed;
mod container;
mod data_writer;
mod error;
mod foreign;
mod gather;
mod guard;
mod help;
mod kernel_values;
mod libsvm;
mod limits;
mod marks;
mod model_file;
mod npy;
mod npz;
mod number;
mod parquet_file;
mod parser;
mod read;
mod remarks;
mod row_blocks;
mod rows;
mod save;
mod stream_checkpoint;
mod survey;
mod table;
mod write;

pub use atomic::{AtomicFile, save_atomically};
pub use binary::join;
pub use blocks::Blocks;
pub use cache_file::{CacheFile, is_cache, read_cache};
pub use cache_writer::CacheWriter;
pub use checkpoint_file::{
    checkpoint_from_bytes, checkpoint_to_bytes, load_checkpoint, previous_checkpoint, remove_checkpoint,
    save_checkpoint,
};
pub use columns::select;
pub use compressed::without_compression;
pub use data_writer::DataWriter;
pub use error::Error;
pub use foreign::{
    ForeignModel, LiblinearLayout, LibsvmLayout, liblinear_model_from_text, liblinear_model_to_text,
    libsvm_model_from_text, libsvm_model_to_text, onnx_model_to_bytes,
};
pub use guard::reads_guarded;
pub use help::{Help, Setting};
pub use model_file::{load_model, model_from_bytes, model_to_bytes, model_to_json, save_model};
pub use read::{
    Categorical, Format, KernelValues, ReadControl, ReadOptions, ReadProgress, Reader, read_bytes, read_path,
    read_source,
};
pub use remarks::{ReadData, Remarks, Unseen};
pub use row_blocks::{RowBlock, RowBlocks};
pub use save::Save;
pub use stream_checkpoint::{
    load_stream_checkpoint, save_stream_checkpoint, stream_checkpoint_from_bytes, stream_checkpoint_to_bytes,
};
pub use survey::{ColumnKind, ColumnRole, ColumnSurvey, TableSurvey, is_identifier_name, is_label_name};
pub use write::{write_csv, write_libsvm};
