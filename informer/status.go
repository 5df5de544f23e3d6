package informer

import "github.com/tidemark-k8s/tidemark/informer/internal/engine"

// Status is the state of an informer at one moment. Times are zero for events that have not happened yet.
type Status = engine.Status

// Totals count the events of an informer. No total ever goes down.
type Totals = engine.Totals

// Progress describes how much of a full state has been read.
type Progress = engine.Progress

// RecentError is an error of a list or watch.
type RecentError = engine.RecentError

// HandlerStatus is the state of one handler.
type HandlerStatus = engine.HandlerStatus

// OwnWrites is what has become of the program's own writes in an informer's store.
type OwnWrites = engine.OwnWrites

// ShardStatus describes the share of the objects that an informer with [Options].Shard reads.
type ShardStatus = engine.ShardStatus

// StorageStatus describes the objects of an informer with [Storage].Decoded.
type StorageStatus = engine.StorageStatus
