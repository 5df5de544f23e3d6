package jsondecode

import (
	"unicode/utf16"
	"unicode/utf8"
)

// appendUnquoted appends the content of a string to b. s are the bytes between its quotes. As in
// encoding/json, half a surrogate pair and each invalid UTF-8 byte become U+FFFD. The scanner has
// already checked the escapes.
func appendUnquoted(b, s []byte) []byte {
	for len(s) > 0 {
		if n := plainEnd(s, 0); n > 0 {
			b, s = append(b, s[:n]...), s[n:]
			continue
		}
		if s[0] != '\\' {
			r, n := utf8.DecodeRune(s)
			b, s = utf8.AppendRune(b, r), s[n:]
			continue
		}
		if s[1] != 'u' {
			b, s = append(b, unescaped(s[1])), s[2:]
			continue
		}
		r, n := escapedRune(s)
		b, s = utf8.AppendRune(b, r), s[n:]
	}
	return b
}

// unescaped returns the byte for a one-letter escape.
func unescaped(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

// escapedRune reads the escape \uXXXX at the beginning of s, or the two escapes of a surrogate pair. It
// also returns their length.
func escapedRune(s []byte) (r rune, n int) {
	r = hex4(s[2:6])
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
		if pair := utf16.DecodeRune(r, hex4(s[8:12])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// hex4 returns the value of four hexadecimal digits, or -1.
func hex4(s []byte) rune {
	var r rune
	for _, c := range s[:4] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
