// Package workbook reads the cells of one sheet of an XLSX workbook as they are stored, row by
// row, and tells what a person who looks at the sheet would not know: formulas, hidden rows and
// columns, merged cells, and numbers that are shown as something else.
//
// A workbook is a zip archive of XML parts. Nothing of it is trusted: every part, every XML token
// and the number of parts, texts and formats are bounded, so that an archive of a few kilobytes
// that unpacks to gigabytes costs a bounded time and memory. Rows are streamed; only the table of
// shared texts is kept. A part that is damaged or cut off is an *Error, never a sheet with fewer
// rows.
//
// It takes the standard library alone. The libraries there are either read the whole sheet or
// hide formulas, hidden rows and merged cells from whoever streams it; one of them takes damaged
// XML for the end of the sheet.
package workbook
