package main

import (
	"regexp"
	"strings"
)

// The modules and packages that are named below.
const (
	module      = "github.com/tidemark-k8s/tidemark"
	ourFactory  = module + "/factory"
	ourInformer = module + "/informer"

	clientGo          = "k8s.io/client-go"
	toolsCache        = clientGo + "/tools/cache"
	toolsWatch        = clientGo + "/tools/watch"
	kinds             = clientGo + "/informers/" // below it is a package for each group and version
	controllerRuntime = "sigs.k8s.io/controller-runtime"
)

// moved are the packages of client-go that have one of the same names here.
var moved = map[string]string{
	toolsCache:              ourInformer + "/cache",
	clientGo + "/informers": ourFactory + "/informers",
	clientGo + "/informers/internalinterfaces": ourFactory + "/internalinterfaces",
	clientGo + "/dynamic/dynamicinformer":      ourFactory + "/dynamicinformer",
	clientGo + "/metadata/metadatainformer":    ourFactory + "/metadatainformer",
}

// engine are the constructors in moved packages that run client-go's informers, or make
// what those are made of. All else there is types and helpers.
var engine = map[string]*regexp.Regexp{
	toolsCache: regexp.MustCompile(`^(New|NewStore|NewIndexer|NewThreadSafeStore|NewFIFO|NewRealFIFO.*|NewDeltaFIFO.*|New(Named)?Reflector.*|` +
		`NewNamespaceKeyedIndexerAndReflector|NewUndeltaStore|New(Transforming)?(Indexer)?Informer|NewInformerWithOptions|NewShared(Index)?Informer(WithOptions)?)$`),
	clientGo + "/informers":                 regexp.MustCompile(`^New(Filtered)?SharedInformerFactory(WithOptions)?$`),
	clientGo + "/dynamic/dynamicinformer":   regexp.MustCompile(`^New`),
	clientGo + "/metadata/metadatainformer": regexp.MustCompile(`^New`),
	toolsWatch:                              regexp.MustCompile(`^NewIndexerInformerWatcher`),
}

// generated are the constructors of informers of one kind, which client-go has for each.
var generated = regexp.MustCompile(`^New(Typed)?(Filtered)?(\w+)Informer(WithOptions)?$`)

// constructor is a generated constructor of client-go, taken apart.
type constructor struct {
	api   string // the package of the kind's Go type
	kind  string
	typed bool   // returns client-go's typed view
	ours  string // the function in package factory that does the same, for any kind
}

// constructorOf takes a function of a package apart. It is not ok unless the function is
// a generated constructor.
func constructorOf(path, function string) (c constructor, ok bool) {
	group, below := strings.CutPrefix(path, kinds)
	parts := generated.FindStringSubmatch(function)
	if !below || parts == nil || strings.Count(group, "/") != 1 {
		return c, false
	}
	c = constructor{api: "k8s.io/api/" + group, kind: parts[3], typed: parts[1] != "", ours: "New" + parts[2] + "Informer" + parts[4]}
	return c, true
}

// runsEngine tells whether a function makes informers of client-go's, or parts of them.
func runsEngine(path, function string) bool {
	if names, ok := engine[path]; ok {
		return names.MatchString(function)
	}
	_, ok := constructorOf(path, function)
	return ok
}
