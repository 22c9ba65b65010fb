// Package batchfile reads a file of grants: one data row, one reward.
//
// # Format
//
// The first line names the columns, in any order, in any letter case:
//
//	player_id   required
//	kind        required
//	amount      required: plain ASCII digits
//	subject     optional: what within the campaign the reward is for
//	event       optional: the full event id; event_id and reward_event_id mean the same
//
// Options.Columns names the columns of a file that calls them otherwise. Other columns are ignored
// with a note. With a column event, each row needs an event, and subject
// is not used. Without it the event id is built by grant.EventID from the campaign, the subject
// (empty without the column), the kind, the player and the version.
//
// Commas, semicolons or tabs separate the cells. Which of them is decided by the one that makes
// the first line name the required columns, never by counting; a first line "sep=;" decides it as
// well. Lines end with LF, CRLF or CR. Cells are quoted as in RFC 4180; a quoted cell may contain
// line ends, and a row is named by the physical line on which it begins. The text is UTF-8, with
// or without a byte-order mark, or UTF-16 with one.
//
// A file that begins with { is JSON lines: one object per line, with the same keys as the columns
// above; the keys of the first line are those of all. Texts are in quotes. An id may also be a
// plain number of up to 15 digits; a longer one is refused, because programs change its digits.
//
// A workbook (XLSX) is one sheet whose first row with anything in it is the header; a row is named
// by its number in the sheet. What a person who looks at the sheet does not see is refused:
// formulas, hidden rows, columns and sheets, merged cells, and numbers that are shown as another
// value. A number is an id only with up to 15 digits that are shown as they are.
//
// # Cells
//
// White space around a cell is dropped, no-break and ideographic spaces included. White space
// inside an id, and characters that nobody sees, are refused with their code point. Ids are text:
// leading zeros stay, and forms that only a spreadsheet makes out of a number (7.65612E+16, 123.0)
// are refused, because the digits are lost already. An apostrophe before = + - @ is the text mark
// of spreadsheets, as Guard writes it, and is taken off.
//
// # Two passes
//
// Validate reads everything and writes nothing: it counts, finds every problem, and settles keys
// that the file names twice. Rows then gives each data row exactly once, in order, with its
// verdict. Memory grows by about 90 bytes per row while validating and by less than 10 after,
// beside the shared texts of a workbook; a file that changes between the passes is noticed row by
// row.
//
// The same key (player and event) twice with the same content: the first row is granted, later
// ones are duplicates of its line. With differing content all of these rows are refused, each
// naming the others.
package batchfile
