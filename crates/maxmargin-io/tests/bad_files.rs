//! Bad data files, each with the message it must give: what was found, where, what is expected, and the way out.

use maxmargin_io::{Format, ReadOptions, read_bytes};

/// A bad file: its name, its bytes, how it is read, the message, and the help.
type Case = (&'static str, &'static [u8], fn() -> ReadOptions, &'static str, &'static str);

fn plain() -> ReadOptions {
    ReadOptions::default()
}

fn libsvm() -> ReadOptions {
    ReadOptions { format: Some(Format::Libsvm), ..plain() }
}

fn zero_based() -> ReadOptions {
    ReadOptions { zero_based: true, ..plain() }
}

fn categorical() -> ReadOptions {
    ReadOptions { categorical: true, ..plain() }
}

fn label(name: &str) -> ReadOptions {
    ReadOptions { label: Some(name.into()), ..plain() }
}

fn columns(names: &[&str]) -> ReadOptions {
    ReadOptions { columns: Some(names.iter().map(|name| name.to_string()).collect()), ..plain() }
}

fn header(header: bool) -> ReadOptions {
    ReadOptions { header: Some(header), ..plain() }
}

const CASES: &[Case] = &[
    (
        "d.svm",
        b"",
        plain,
        "d.svm: found an empty file, expected LIBSVM text or CSV",
        "give a file with at least one row",
    ),
    (
        "d.svm",
        b"\xef\xbb\xbf",
        plain,
        "d.svm: found an empty file, expected LIBSVM text or CSV",
        "give a file with at least one row",
    ),
    (
        "d.svm",
        b"\n \n# only a comment\n",
        plain,
        "d.svm: found no rows, expected at least one",
        "give a file with at least one row",
    ),
    ("d.svm", b"\n\n", libsvm, "d.svm: found no rows, expected at least one", "give a file with at least one row"),
    (
        "d.svm.gz",
        b"\x1f\x8b\x08\0\0\0",
        plain,
        "d.svm.gz: found gzip-compressed data that are damaged or cut off (unexpected end of file), expected a whole file",
        "copy or download the file once more; gzip -t tests it",
    ),
    (
        "d.svm.bz2",
        b"BZh91AY&SY\xff\x01",
        plain,
        "d.svm.bz2: found bzip2-compressed data that are damaged or cut off (decompression not finished but EOF reached), expected a whole file",
        "copy or download the file once more; bzip2 -t tests it",
    ),
    (
        "d.svm.xz",
        b"\xfd7zXZ\0\0\x04",
        plain,
        "d.svm.xz: found xz-compressed data that are damaged or cut off (premature eof), expected a whole file",
        "copy or download the file once more; xz -t tests it",
    ),
    (
        "d.svm.zst",
        b"\x28\xb5\x2f\xfd\x04",
        plain,
        "d.svm.zst: found zstd-compressed data that are damaged or cut off (incomplete frame), expected a whole file",
        "copy or download the file once more; zstd -t tests it",
    ),
    (
        "d.xlsx",
        b"PK\x03\x04\0\0",
        plain,
        "d.xlsx: found a zip archive, expected LIBSVM text or CSV",
        "unpack the archive first, or save the spreadsheet as CSV",
    ),
    (
        "d.parquet",
        b"PAR1\0\x15",
        plain,
        "d.parquet: found a Parquet file that cannot be read (\"EOF: Parquet file too small. Size is 6 but need 8\"), expected a whole Parquet file of numbers",
        "copy the file again, or save the data once more (without encryption, compressed by snappy, gzip or zstd)",
    ),
    (
        "d.npy",
        b"\x93NUMPY\x01\0",
        plain,
        "d.npy: found a NumPy array whose header does not read, expected a table of numbers saved by NumPy",
        "save it with numpy.save once more",
    ),
    (
        "d.h5",
        b"\x89HDF\r\n\x1a\n\0",
        plain,
        "d.h5: found an HDF5 file, expected LIBSVM text or CSV",
        "save the data as CSV first",
    ),
    (
        "d.csv",
        b"\xff\xfea\0,\0b\0",
        plain,
        "d.csv: found text in UTF-16, not UTF-8, expected LIBSVM text or CSV",
        "save the file as UTF-8",
    ),
    (
        "d.svm",
        b"1 1:1\n1 \x001:1\n",
        plain,
        "d.svm:2:3: found a zero byte, expected text",
        "give LIBSVM text or CSV, not a binary file",
    ),
    (
        "d.csv",
        b"a,b\n1,caf\xe9\n",
        plain,
        "d.csv:2:6: found the byte 0xe9, which is not UTF-8, expected UTF-8 text",
        "save the file as UTF-8 (if it is Latin-1: iconv -f latin1 -t utf-8)",
    ),
    (
        "d.csv",
        b"a,b\n1,\xc3\xa9\xff\n",
        plain,
        "d.csv:2:4: found the byte 0xff, which is not UTF-8, expected UTF-8 text",
        "save the file as UTF-8 (if it is Latin-1: iconv -f latin1 -t utf-8)",
    ),
    (
        "d.txt",
        b"1 2 3\n4 5 6\n",
        plain,
        r#"d.txt:1:1: found "1 2 3", expected LIBSVM text (label index:value ...) or CSV"#,
        "separate the cells of a row with commas, semicolons or tabs, or name the format: --format libsvm, --format csv",
    ),
    (
        "d.txt",
        b"\nhello\n",
        plain,
        r#"d.txt:2:1: found "hello", expected LIBSVM text (label index:value ...) or CSV"#,
        "separate the cells of a row with commas, semicolons or tabs, or name the format: --format libsvm, --format csv",
    ),
    (
        "d.txt",
        b"# x\n1\n-1\n",
        plain,
        r#"d.txt:2:1: found "1", expected LIBSVM text (label index:value ...) or CSV"#,
        "separate the cells of a row with commas, semicolons or tabs, or name the format: --format libsvm, --format csv",
    ),
    (
        "d.txt",
        b"bad\x1b[31m text\n",
        plain,
        r#"d.txt:1:1: found "bad\u{1b}[31m text", expected LIBSVM text (label index:value ...) or CSV"#,
        "separate the cells of a row with commas, semicolons or tabs, or name the format: --format libsvm, --format csv",
    ),
    (
        "d.svm",
        b"1 0:1 2:3\n",
        plain,
        "d.svm:1:3: found the index 0, expected one of 1 or more",
        "number the columns from 1, or say that they begin at 0: --zero-based",
    ),
    (
        "d.svm",
        b"1 1:1\n-1 3:1 2:5\n",
        plain,
        "d.svm:2:8: found the index 2 after 3, expected increasing indices",
        "sort the entries of each row by index",
    ),
    (
        "d.svm",
        b"1 2:1 2:5\n",
        plain,
        "d.svm:1:7: found the index 2 again, expected each index once in a row",
        "join or remove the repeated entries",
    ),
    (
        "d.svm",
        b"1 1:2 2:abc\n",
        plain,
        r#"d.svm:1:9: found "abc", expected a number"#,
        "write numbers like 3, -0.5 or 1e-3, with a decimal point",
    ),
    (
        "d.svm",
        b"1 1:2 2:nan\n",
        plain,
        r#"d.svm:1:9: found "nan", expected a finite number"#,
        "leave the row out, or fill the value in (with the column's mean, say)",
    ),
    (
        "d.svm",
        b"1 1:2 2:-inf\n",
        plain,
        r#"d.svm:1:9: found "-inf", expected a finite number"#,
        "leave the row out, or fill the value in (with the column's mean, say)",
    ),
    (
        "d.svm",
        b"1 1:2 2:1e999\n",
        plain,
        r#"d.svm:1:9: found "1e999", expected a number of at most 1.8e308"#,
        "scale the column, or correct the value",
    ),
    (
        "d.svm",
        b"1 1:2 3:\n",
        plain,
        "d.svm:1:9: found no value, expected a number after the colon",
        "leave the entry out where the value is 0, or fill it in",
    ),
    (
        "d.svm",
        b"1 1:2 3: 4:1\n",
        plain,
        "d.svm:1:9: found no value, expected a number after the colon",
        "leave the entry out where the value is 0, or fill it in",
    ),
    (
        "d.svm",
        b"1 1:2,5\n",
        plain,
        r#"d.svm:1:5: found "2,5", expected a number"#,
        "write numbers like 3, -0.5 or 1e-3, with a decimal point",
    ),
    (
        "d.svm",
        b"1 1:2 3\n",
        plain,
        r#"d.svm:1:7: found "3", expected an entry index:value"#,
        "write each entry as index:value, without spaces around the colon",
    ),
    (
        "d.svm",
        b"1 1 : 2\n",
        plain,
        r#"d.svm:1:3: found "1", expected an entry index:value"#,
        "write each entry as index:value, without spaces around the colon",
    ),
    (
        "d.svm",
        b"1 1:2 -3:1\n",
        plain,
        r#"d.svm:1:7: found "-3:1", expected an entry index:value"#,
        "number the columns from 1 on, in digits",
    ),
    (
        "d.svm",
        b"1 :2 3:1\n",
        plain,
        r#"d.svm:1:3: found ":2", expected an entry index:value"#,
        "number the columns from 1 on, in digits",
    ),
    (
        "d.svm",
        b"1 1:2 x:1\n",
        plain,
        r#"d.svm:1:7: found "x:1", expected an entry index:value"#,
        "number the columns from 1 on, in digits",
    ),
    (
        "d.svm",
        b"1 1:2:3 2:1\n",
        plain,
        r#"d.svm:1:5: found "2:3", expected a number"#,
        "write numbers like 3, -0.5 or 1e-3, with a decimal point",
    ),
    (
        "d.svm",
        b"1 4294967294:1\n",
        plain,
        "d.svm:1:3: found the index 4294967294, expected one below 4294967294",
        "renumber the columns that are used",
    ),
    (
        "d.svm",
        b"1 4294967294:1\n",
        zero_based,
        "d.svm:1:3: found the index 4294967294, expected one below 4294967294",
        "renumber the columns that are used",
    ),
    (
        "d.svm",
        b"1 1:1 99999999999:1\n",
        plain,
        "d.svm:1:7: found the index 99999999999, expected one below 4294967294",
        "renumber the columns that are used",
    ),
    (
        "d.svm",
        b"1 99999999999999999999999:1\n",
        plain,
        "d.svm:1:3: found an index of 20 digits or more, expected one below 4294967294",
        "renumber the columns that are used",
    ),
    (
        "d.svm",
        b"1 0:1 0:2\n",
        zero_based,
        "d.svm:1:7: found the index 0 again, expected each index once in a row",
        "join or remove the repeated entries",
    ),
    (
        "d.svm",
        b"1:2 2:3\n",
        plain,
        r#"d.svm:1:1: found "1:2", expected a label"#,
        "begin each row with its label, or with 0 where it is not known",
    ),
    (
        "d.svm",
        b"1 qid:1 1:1\n1 1:2\n",
        plain,
        "d.svm:2:3: found no qid, expected one, as in the rows before",
        "give every row a qid after its label, or none",
    ),
    (
        "d.svm",
        b"1 1:1\n1 qid:1 1:2\n",
        plain,
        "d.svm:2:3: found a qid, expected none, as in the rows before",
        "give every row a qid after its label, or none",
    ),
    (
        "d.svm",
        b"1 qid:x 1:1\n",
        plain,
        r#"d.svm:1:7: found "x", expected a whole number"#,
        "number the queries in digits, as in qid:1",
    ),
    (
        "d.svm",
        b"1 1:1 qid:2\n",
        plain,
        r#"d.svm:1:7: found "qid:2", expected an entry index:value"#,
        "write qid right after the label",
    ),
    (
        "d.svm",
        b"1 1:1\r\n\r\n# c\r\n\t1\t2:z # d\r\n",
        plain,
        r#"d.svm:4:6: found "z", expected a number"#,
        "write numbers like 3, -0.5 or 1e-3, with a decimal point",
    ),
    (
        "d.svm",
        "1 1:1 2:ü3\n".as_bytes(),
        plain,
        r#"d.svm:1:9: found "ü3", expected a number"#,
        "write numbers like 3, -0.5 or 1e-3, with a decimal point",
    ),
    (
        "d.svm",
        b"1 1:0x10\n",
        plain,
        r#"d.svm:1:5: found "0x10", expected a number"#,
        "write numbers like 3, -0.5 or 1e-3, with a decimal point",
    ),
    (
        "d.svm",
        b"1 1:1_000\n",
        plain,
        r#"d.svm:1:5: found "1_000", expected a number"#,
        "write numbers like 3, -0.5 or 1e-3, with a decimal point",
    ),
    (
        "d.svm",
        b"1 1:1\n",
        || label("y"),
        r#"d.svm: found LIBSVM text, where the label is the first word of a row, expected CSV with a label column "y""#,
        "leave out --label, or name the format: --format csv",
    ),
    ("d.svm", b"1 1:1\n", || columns(&["2"]), r#"d.svm: there is no column "2""#, "the columns are numbered 1 to 1"),
    (
        "d.svm",
        b"1 1:1 2:2\n",
        || columns(&["2", "2"]),
        r#"d.svm: the column "2" is asked for twice"#,
        "name each column once in --columns",
    ),
    (
        "d.svm",
        b"1 1:--1\n",
        plain,
        r#"d.svm:1:5: found "--1", expected a number"#,
        "write numbers like 3, -0.5 or 1e-3, with a decimal point",
    ),
    (
        "d.csv",
        b"x\n1\n",
        || ReadOptions { unlabelled: true, ..columns(&["y"]) },
        r#"d.csv: there is no column "y""#,
        r#"the columns are "x""#,
    ),
    (
        "d.csv",
        b"1,2,p\n3,4,q\n",
        || label("4"),
        r#"d.csv: there is no column "4""#,
        "the columns are numbered 1 to 3; with a header they have names: --header",
    ),
    (
        "d.csv",
        b"1,2,p\n3,4,q\n",
        || label("0"),
        r#"d.csv: there is no column "0""#,
        "the columns are numbered 1 to 3; with a header they have names: --header",
    ),
    (
        "d.csv",
        b"1,2,p\n3,4,q\n",
        || columns(&["1", "3"]),
        "d.csv: column 3 is the label and also among the columns to keep",
        "leave it out of --columns, or choose another with --label",
    ),
    (
        "d.csv",
        b"a,b,c,d,e,f,g,h,i,j\n1,2,3,4,5,6,7,8,9,0\n",
        || label("z"),
        r#"d.csv: there is no column "z""#,
        r#"the columns are "a", "b", "c", "d", "e", "f", "g", "h", and 2 more"#,
    ),
    (
        "d.csv",
        b"a,b,y\r\n1,2,p\r\n3,,q\r\n",
        plain,
        r#"d.csv:3:3: found an empty cell in column 2 "b", expected a value"#,
        "fill the value in (with the column's mean, say), or remove the row",
    ),
    (
        "d.csv",
        "größe,b,y\nü,2,p\n3,é,q\n".as_bytes(),
        || header(true),
        r#"d.csv:2:1: found "ü" in column 1 "größe", expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n3,4,q\n\"5,6,r",
        plain,
        "d.csv:4:1: found a quote that is never closed, expected a closing quote",
        "close the quote, and write a quote within a cell twice",
    ),
    (
        "d.svm",
        b"1,2,3\n",
        libsvm,
        r#"d.svm:1:1: found "1,2,3", expected LIBSVM text (label index:value ...)"#,
        "if this is CSV, name the format: --format csv",
    ),
    ("d.csv", b"\n\r\n", plain, "d.csv: found no rows, expected at least one", "give a file with at least one row"),
    (
        "d.csv",
        b"a,b,y\n",
        plain,
        "d.csv: found a header without rows, expected at least one row",
        "add rows, or say that the first line is a row: --no-header",
    ),
    (
        "d.csv",
        b"1\n2\n",
        plain,
        "d.csv:1:1: found one column, expected a label column and at least one more",
        "separate the cells with commas, semicolons or tabs",
    ),
    (
        "d.csv",
        b"a b c\n1 2 3\n",
        plain,
        "d.csv:1:1: found one column, expected a label column and at least one more",
        "separate the cells with commas, semicolons or tabs",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n3,q\n",
        plain,
        "d.csv:3:3: found a row of 2 cells, expected 3 as in line 1",
        "give each row as many cells, and put cells that hold the separator in quotes",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n3,4,q,5\n",
        plain,
        "d.csv:3:7: found a row of 4 cells, expected 3 as in line 1",
        "give each row as many cells, and put cells that hold the separator in quotes",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n\n\n3\n",
        plain,
        "d.csv:5:1: found a row of 1 cell, expected 3 as in line 1",
        "give each row as many cells, and put cells that hold the separator in quotes",
    ),
    (
        "d.csv",
        b"a,a,y\n1,2,p\n",
        plain,
        r#"d.csv:1:3: found the name "a" of column 1 again, expected a name of its own"#,
        "rename one of the columns, or say that the first line is a row: --no-header",
    ),
    (
        "d.csv",
        b"a,b,a\n1,2,p\n",
        plain,
        r#"d.csv:1:5: found the name "a" of column 1 again, expected a name of its own"#,
        "rename one of the columns, or say that the first line is a row: --no-header",
    ),
    (
        "d.csv",
        b"2,,y\n1,2,p\n",
        || header(true),
        r#"d.csv:1:3: found the name "2" of column 1 again, expected a name of its own"#,
        "rename one of the columns, or say that the first line is a row: --no-header",
    ),
    (
        "d.csv",
        b"a,b,y\n1,red,p\n2,3,q\n",
        plain,
        r#"d.csv:2:3: found "red" in column 2 "b", expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n2,red,q\n",
        plain,
        r#"d.csv:3:3: found "red" in column 2 "b", expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns",
    ),
    (
        "d.csv",
        b"1,red,p\n2,blue,q\n",
        plain,
        r#"d.csv:1:3: found "red" in column 2, expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns; if this line names the columns, pass --header",
    ),
    (
        "d.csv",
        b"a,b,y\n1,,p\n",
        plain,
        r#"d.csv:2:3: found an empty cell in column 2 "b", expected a value"#,
        "fill the value in (with the column's mean, say), or remove the row",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n1, NA ,p\n",
        plain,
        r#"d.csv:3:3: found the missing value "NA" in column 2 "b", expected a value"#,
        "fill the value in (with the column's mean, say), or remove the row",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\nNaN,2,p\n",
        plain,
        r#"d.csv:3:1: found the missing value "NaN" in column 1 "a", expected a value"#,
        "fill the value in (with the column's mean, say), or remove the row",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n?,2,p\n",
        plain,
        r#"d.csv:3:1: found the missing value "?" in column 1 "a", expected a value"#,
        "fill the value in (with the column's mean, say), or remove the row",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\nnull,2,p\n",
        categorical,
        r#"d.csv:3:1: found the missing value "null" in column 1 "a", expected a value"#,
        "fill the value in (with the column's mean, say), or remove the row",
    ),
    (
        "d.csv",
        b"a,b,y\n1,red,p\n1,?,p\n",
        categorical,
        r#"d.csv:3:3: found the missing value "?" in column 2 "b", expected a value"#,
        "fill the value in (with the column's mean, say), or remove the row",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n1,2,\n",
        plain,
        r#"d.csv:3:5: found an empty cell in column 3 "y", expected a label"#,
        "fill the label in, or remove the row",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n1,2,NA\n",
        plain,
        r#"d.csv:3:5: found the missing value "NA" in column 3 "y", expected a label"#,
        "fill the label in, or remove the row",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\ninf,2,p\n",
        plain,
        r#"d.csv:3:1: found "inf" in column 1 "a", expected a finite number"#,
        "leave the row out, or correct the value",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n1e999,2,p\n",
        categorical,
        r#"d.csv:3:1: found "1e999" in column 1 "a", expected a finite number"#,
        "leave the row out, or correct the value",
    ),
    (
        "d.csv",
        b"a;b;y\n1,5;2,5;p\n",
        plain,
        r#"d.csv:2:1: found "1,5" in column 1 "a", expected a number"#,
        "write numbers with a decimal point",
    ),
    (
        "d.csv",
        b"1,5;2,5;p\n1,5;2,5;p\n",
        || header(false),
        r#"d.csv:1:1: found "1,5" in column 1, expected a number"#,
        "write numbers with a decimal point",
    ),
    (
        "d.csv",
        b"a,b,y\n1,\"2,p\n3,4,q\n",
        plain,
        "d.csv:2:3: found a quote that is never closed, expected a closing quote",
        "close the quote, and write a quote within a cell twice",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,\"p\n3,4,q\n",
        plain,
        "d.csv:2:5: found a quote that is never closed, expected a closing quote",
        "close the quote, and write a quote within a cell twice",
    ),
    (
        "d.csv",
        b"a,b,y\n\"1\n2\",2,p\n",
        plain,
        r#"d.csv:2:1: found "1\n2" in column 1 "a", expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,\"x\ny\"\n1,zz,p\n",
        plain,
        r#"d.csv:4:3: found "zz" in column 2 "b", expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns",
    ),
    ("d.csv", b"a,b,y\n1,2,p\n", || label("z"), r#"d.csv: there is no column "z""#, r#"the columns are "a", "b", "y""#),
    ("d.csv", b"1,2,p\n", || label("4"), r#"d.csv: there is no column "4""#, r#"the columns are "1", "2", "p""#),
    ("d.csv", b"1,2,p\n", || label("0"), r#"d.csv: there is no column "0""#, r#"the columns are "1", "2", "p""#),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n",
        || ReadOptions { header: Some(false), ..label("y") },
        r#"d.csv: there is no column "y""#,
        "the columns are numbered 1 to 3; with a header they have names: --header",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n",
        || columns(&["a", "y"]),
        r#"d.csv: column 3 "y" is the label and also among the columns to keep"#,
        "leave it out of --columns, or choose another with --label",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n",
        || columns(&["a", "1"]),
        r#"d.csv: the column "1" is asked for twice"#,
        "name each column once in --columns",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n",
        || columns(&["a", "a"]),
        r#"d.csv: the column "a" is asked for twice"#,
        "name each column once in --columns",
    ),
    (
        "d.csv",
        b"a,b,y\n1,2,p\n",
        || header(false),
        r#"d.csv:1:1: found "a" in column 1, expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns; if this line names the columns, pass --header",
    ),
    (
        "d.csv",
        b"a,a=u,y\n1,2,p\nu,3,q\n",
        || ReadOptions { header: Some(true), ..categorical() },
        r#"d.csv: two columns are named "a=u""#,
        "rename one of them",
    ),
    (
        "d.tsv",
        b"a\tb\ty\n1\tx\tp\n1\t2\tp\n",
        plain,
        r#"d.tsv:2:3: found "x" in column 2 "b", expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns",
    ),
    (
        "d.tsv",
        b"a,b\n1,2\n",
        plain,
        "d.tsv:1:1: found one column, expected a label column and at least one more",
        "separate the cells with commas, semicolons or tabs",
    ),
    (
        "d.csv",
        b"1,\"a\x1b[2Jb\",p\n2,c,q\n",
        plain,
        r#"d.csv:1:3: found "a\u{1b}[2Jb" in column 2, expected a number"#,
        "make a column of each value with --categorical, or name the columns to keep with --columns; if this line names the columns, pass --header",
    ),
];

#[test]
fn each_bad_file_gives_its_message() {
    let mut mismatches = Vec::new();
    for (number, (name, bytes, options, message, help)) in CASES.iter().enumerate() {
        let (found, found_help) = match read_bytes(bytes, name, &options()) {
            Ok(data) => (format!("no error, but {} rows", data.rows()), String::new()),
            Err(error) => (error.to_string(), error.help()),
        };
        if (found.as_str(), found_help.as_str()) != (*message, *help) {
            let shown = bytes.escape_ascii();
            mismatches.push(format!(
                "case {number} {name} {shown}\n  expected {message}\n  found    {found}\n  expected help {help}\n  found help    {found_help}"
            ));
        }
    }
    assert!(mismatches.is_empty(), "{} mismatches\n{}", mismatches.len(), mismatches.join("\n"));
}

#[test]
fn each_message_is_one_line_that_names_the_file_and_has_a_way_out() {
    for (name, bytes, options, ..) in CASES {
        let error = read_bytes(bytes, name, &options()).expect_err(name);
        let (message, help) = (error.to_string(), error.help());
        assert!(message.starts_with(&format!("{name}:")), "{message}");
        for text in [&message, &help] {
            assert!(!text.is_empty() && !text.chars().any(char::is_control) && !text.ends_with('.'), "{text}");
        }
    }
}

#[test]
fn a_column_of_too_many_values_is_not_taken_for_categories() {
    let table: String = (0..1001).map(|row| format!("id{row},1,a\n")).collect();
    let error = read_bytes(table.as_bytes(), "d.csv", &categorical()).unwrap_err();
    assert_eq!(error.to_string(), "d.csv: column 1 has more than 1000 different values");
    assert_eq!(error.help(), "name the columns to keep with --columns, or join rare values");
    let table: String = (0..1000).map(|row| format!("id{row},1,a\n")).collect();
    let data = read_bytes(table.as_bytes(), "d.csv", &categorical()).unwrap();
    assert_eq!(data.columns(), 1001);
}

#[test]
fn a_table_of_more_bytes_than_allowed_is_refused() {
    let options = ReadOptions { max_bytes: Some(10), ..plain() };
    let error = read_bytes(b"1 1:1 2:2 3:3\n", "d.svm", &options).unwrap_err();
    assert_eq!(error.to_string(), "d.svm: the data are more than the limit of 10 B");
    assert_eq!(error.help(), "raise the limit, or give fewer rows");
}
