package informer

import "github.com/tidemark-k8s/tidemark/informer/internal/engine"

// Status is the state of an informer at one moment: whether it runs, is synced and watches, how current the
// store is, its last errors, counts, and the state of each handler. [engine.Status] documents its fields.
type Status = engine.Status

// Totals count the events of an informer, such as lists, watches, errors and changes. No total ever goes
// down. [engine.Totals] documents its fields.
type Totals = engine.Totals

// Progress holds when a full state was requested, and how many of its objects and bytes have been read.
// [engine.Progress] documents its fields.
type Progress = engine.Progress

// RecentError is an error of a list or watch, with its time and class. [engine.RecentError] documents its fields.
type RecentError = engine.RecentError

// HandlerStatus is the state of one handler: its name, whether it is synced, its backlog, its failures, and
// the number of delivered events. [engine.HandlerStatus] documents its fields.
type HandlerStatus = engine.HandlerStatus

// OwnWrites counts what became of the program's own writes in an informer's store. Own writes are
// experimental: the counts may change. [engine.OwnWrites] documents its fields.
type OwnWrites = engine.OwnWrites

// ShardStatus holds the share that an informer with [Options].Shard reads, the number of dropped objects, and
// whether the server filters. [engine.ShardStatus] documents its fields.
type ShardStatus = engine.ShardStatus

// StorageStatus holds the memory of an informer with [Storage].Decoded, and counts its pinned, decoded and
// undecodable objects. [engine.StorageStatus] documents its fields.
type StorageStatus = engine.StorageStatus
