// Package around is for sources of this module that stand around another source and leave its
// requests and answers as they are. A user's source cannot say so of itself: what its List and
// Watch do is not known, so they are called.
package around
