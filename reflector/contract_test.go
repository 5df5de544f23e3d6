package reflector

import "testing"

// The transcripts of testdata, by the number of the contract that they show.

func TestContract_B44_FirstListComesFromTheCache(t *testing.T)          { play(t) }
func TestContract_B44_RelistAsksForTheLastVersion(t *testing.T)         { play(t) }
func TestContract_B44_UnavailableVersionIsListedAfresh(t *testing.T)    { play(t) }
func TestContract_B46_PagingServerKeepsPaging(t *testing.T)             { play(t) }
func TestContract_B46_PagesOfOneListProveNothing(t *testing.T)          { play(t) }
func TestContract_B47_PageSizeIsForced(t *testing.T)                    { play(t) }
func TestContract_B48_ExpiredPageMeansOneListWithoutPages(t *testing.T) { play(t) }
func TestContract_B48_OtherFailuresOfAPageStartOver(t *testing.T)       { play(t) }
func TestContract_B50_VersionFollowsTheCommit(t *testing.T)             { play(t) }
func TestContract_B51_TablesAreRejected(t *testing.T)                   { play(t) }
func TestContract_B53_WatchOptions(t *testing.T)                        { play(t) }
func TestContract_B53_MinWatchTimeout(t *testing.T)                     { play(t) }
func TestContract_B54_ClosedWatchIsReopened(t *testing.T)               { play(t) }
func TestContract_B54_VeryShortWatchIsAFailure(t *testing.T)            { play(t) }
func TestContract_B54_ShortWatchesDoNotLoop(t *testing.T)               { play(t) }
func TestContract_B55_BusyServerIsLeftAlone(t *testing.T)               { play(t) }
func TestContract_B56_OtherErrorsRelist(t *testing.T)                   { play(t) }
func TestContract_B57_ExpiredWatchRelistsAtTheLastVersion(t *testing.T) { play(t) }
func TestContract_B61_WhatCannotBeReadIsSkipped(t *testing.T)           { play(t) }
func TestContract_B63_UnorderedAddedEvents(t *testing.T)                { play(t) }
func TestContract_B63_BookmarkEndsTheUnorderedEvents(t *testing.T)      { play(t) }
func TestContract_B63_FakeClientsets(t *testing.T)                      { play(t) }
func TestContract_B64_BookmarksAdvanceTheVersion(t *testing.T)          { play(t) }
func TestContract_B66_RelistStreamsAtTheLastVersion(t *testing.T)       { play(t) }
func TestContract_B67_StreamBecomesTheWatch(t *testing.T)               { play(t) }
func TestContract_B68_BusyServerIsAskedForAStreamAgain(t *testing.T)    { play(t) }
func TestContract_B68_UnavailableVersionIsStreamedAfresh(t *testing.T)  { play(t) }
func TestContract_B68_OtherErrorsMeanAList(t *testing.T)                { play(t) }
func TestContract_B68_ErrorInTheInitialStateMeansAList(t *testing.T)    { play(t) }
func TestContract_D8_HangingList(t *testing.T)                          { play(t) }
func TestContract_D8_HangingWatch(t *testing.T)                         { play(t) }
func TestContract_D8_Backoff(t *testing.T)                              { play(t) }
func TestContract_D8_InitialState(t *testing.T)                         { play(t) }
func TestContract_D9_BackoffGrowsOverAnOutage(t *testing.T)             { play(t) }
func TestContract_D9_TwoHealthyMinutesStartAnew(t *testing.T)           { play(t) }
func TestContract_D9_FirstExpiredWatchRelistsAtOnce(t *testing.T)       { play(t) }
func TestContract_D10_EveryErrorIsTold(t *testing.T)                    { play(t) }
func TestContract_D10_PersistentRefusal(t *testing.T)                   { play(t) }
func TestContract_D10_SinkErrorsAreTold(t *testing.T)                   { play(t) }
func TestContract_D10_SinkThatBeginsNothing(t *testing.T)               { play(t) }
func TestContract_D10_SinkThatAbortsNothing(t *testing.T)               { play(t) }
func TestContract_D12_StreamThatClosesIsRefused(t *testing.T)           { play(t) }
func TestContract_D12_ShortStreamIsRefused(t *testing.T)                { play(t) }
func TestContract_D12_SilentStreamIsRefused(t *testing.T)               { play(t) }
func TestContract_D12_UnansweredStreamIsRefused(t *testing.T)           { play(t) }
func TestContract_D12_UnknownSourceHasASecond(t *testing.T)             { play(t) }
func TestContract_D12_ChangesDoNotMakeAnInitialState(t *testing.T)      { play(t) }
func TestContract_D22_SilentWatchIsReopened(t *testing.T)               { play(t) }
func TestContract_D22_SilentAfterASlowStream(t *testing.T)              { play(t) }
func TestContract_D22_UnansweredWatchIsReopened(t *testing.T)           { play(t) }
func TestContract_D23_ListOfAnotherHistory(t *testing.T)                { play(t) }
func TestContract_D23_StreamOfAnotherHistory(t *testing.T)              { play(t) }
func TestContract_D23_BookmarkOfAnotherHistory(t *testing.T)            { play(t) }
func TestContract_D10_ListWithoutAVersion(t *testing.T)                 { play(t) }
func TestContract_D23_SilentAfterAnOutage(t *testing.T)                 { play(t) }
func TestContract_D23_SilentAfterAnOutageThatTheClientHid(t *testing.T) { play(t) }
func TestContract_D23_SilentBehindAHalfOpenWatch(t *testing.T)          { play(t) }
func TestContract_D23_VersionsThatDoNotCompare(t *testing.T)            { play(t) }
func TestContract_D26_ListsWithoutVersions(t *testing.T)                { play(t) }
func TestContract_D26_AnAnswerThatIsNoList(t *testing.T)                { play(t) }
func TestContract_D26_AnEmptyFake(t *testing.T)                         { play(t) }
