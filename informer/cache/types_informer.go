package cache

import (
	"k8s.io/client-go/tools/cache"
)

// SharedInformer is client-go's type of that name.
type SharedInformer = cache.SharedInformer

// SharedIndexInformer is client-go's type of that name.
type SharedIndexInformer = cache.SharedIndexInformer

// SharedIndexInformerOptions is client-go's type of that name.
type SharedIndexInformerOptions = cache.SharedIndexInformerOptions

// InformerOptions is client-go's type of that name.
type InformerOptions = cache.InformerOptions

// InformerSynced is client-go's type of that name.
type InformerSynced = cache.InformerSynced

// Controller is client-go's type of that name.
type Controller = cache.Controller

// Config is client-go's type of that name.
type Config = cache.Config

// ProcessFunc is client-go's type of that name.
type ProcessFunc = cache.ProcessFunc

// ProcessBatchFunc is client-go's type of that name.
type ProcessBatchFunc = cache.ProcessBatchFunc

// ShouldResyncFunc is client-go's type of that name.
type ShouldResyncFunc = cache.ShouldResyncFunc

// HandlerOptions is client-go's type of that name.
type HandlerOptions = cache.HandlerOptions

// ResourceEventHandler is client-go's type of that name.
type ResourceEventHandler = cache.ResourceEventHandler

// ResourceEventHandlerFuncs is client-go's type of that name.
type ResourceEventHandlerFuncs = cache.ResourceEventHandlerFuncs

// ResourceEventHandlerDetailedFuncs is client-go's type of that name.
type ResourceEventHandlerDetailedFuncs = cache.ResourceEventHandlerDetailedFuncs

// FilteringResourceEventHandler is client-go's type of that name.
type FilteringResourceEventHandler = cache.FilteringResourceEventHandler

// ResourceEventHandlerRegistration is client-go's type of that name.
type ResourceEventHandlerRegistration = cache.ResourceEventHandlerRegistration

// DoneChecker is client-go's type of that name.
type DoneChecker = cache.DoneChecker

// SyncResult is client-go's type of that name.
type SyncResult = cache.SyncResult

// WatchErrorHandler is client-go's type of that name.
type WatchErrorHandler = cache.WatchErrorHandler

// WatchErrorHandlerWithContext is client-go's type of that name.
type WatchErrorHandlerWithContext = cache.WatchErrorHandlerWithContext

// TransformFunc is client-go's type of that name.
type TransformFunc = cache.TransformFunc

// MutationDetector is client-go's type of that name.
type MutationDetector = cache.MutationDetector

// TypedSharedIndexInformer is client-go's type of that name.
type TypedSharedIndexInformer[T Object] = cache.TypedSharedIndexInformer[T]

// TypedResourceEventHandler is client-go's type of that name.
type TypedResourceEventHandler[T Object] = cache.TypedResourceEventHandler[T]

// TypedResourceEventHandlerFuncs is client-go's type of that name.
type TypedResourceEventHandlerFuncs[T Object] = cache.TypedResourceEventHandlerFuncs[T]

// TypedResourceEventHandlerDetailedFuncs is client-go's type of that name.
type TypedResourceEventHandlerDetailedFuncs[T Object] = cache.TypedResourceEventHandlerDetailedFuncs[T]

// TypedFilteringResourceEventHandler is client-go's type of that name.
type TypedFilteringResourceEventHandler[T Object] = cache.TypedFilteringResourceEventHandler[T]

// DeletedObject is client-go's type of that name.
type DeletedObject[T Object] = cache.DeletedObject[T]

// Object is client-go's type of that name.
type Object = cache.Object
