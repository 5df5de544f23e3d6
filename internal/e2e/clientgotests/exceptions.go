package main

import "strings"

// exceptions are client-go's tests and subtests that do not pass on this module, by folder and name,
// with the reasons.
var exceptions = map[string]string{
	"tools/cache.TestSharedInformerTransformer": "D7: its transform renames the objects, which quarantines them",
	"tools/cache.TestEventPanics/many":          "D16: a handler continues without a pause after a panic, but the test expects a second after each panic",
	"tools/cache.TestWatchList/check_if_stopping_a_watcher_before_sync_results_in_creating_a_new_watch-list_request": "D12: a list follows a stream " +
		"that ends before its end bookmark, but the test has no list",
}

const stopped = "D8: the test ends the context when its last event has left a channel, so that events that are not yet written are dropped"

// races are the tests whose result depends on the order in which goroutines run, by folder and name,
// with the reasons.
var races = map[string]string{
	"tools/cache.TestWatchList/prove_that_the_reflector_is_synced_after_receiving_a_bookmark_event":                                  stopped,
	"tools/cache.TestWatchList/checks_if_the_reflector_retries_429":                                                                  stopped,
	"tools/cache.TestWatchList/check_if_Updates_and_Deletes_events_are_propagated_during_streaming_(until_the_bookmark_is_received)": stopped,
	"tools/cache.TestWatchList/stopping_a_watcher_after_synchronization_results_in_creating_a_new_watch_request":                     stopped,
	"tools/cache.TestWatchList/returning_any_other_error_than_apierrors.NewInvalid_forces_fallback":                                  stopped,
	"tools/cache.TestWatchList/the_reflector_can_fall_back_to_old_LIST/WATCH_semantics_when_a_server_doesn't_support_streaming":      stopped,
}

// isListed reports whether a test, or a subtest of the test, is an exception.
func isListed(test string) bool {
	for name := range exceptions {
		if name == test || strings.HasPrefix(name, test+"/") {
			return true
		}
	}
	return false
}
