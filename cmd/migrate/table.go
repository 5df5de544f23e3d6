package main

import (
	"regexp"
	"strings"
)

// The modules and packages in the tables below.
const (
	module               = "github.com/tidemark-k8s/tidemark"
	ourFactory           = module + "/factory"
	ourInformer          = module + "/informer"
	ourControllerRuntime = module + "/controllerruntime"

	clientGo          = "k8s.io/client-go"
	toolsCache        = clientGo + "/tools/cache"
	toolsWatch        = clientGo + "/tools/watch"
	kinds             = clientGo + "/informers/" // the prefix of a package for each group and version
	controllerRuntime = "sigs.k8s.io/controller-runtime"
)

// nested has the modules that a program needs if it imports the first of them.
var nested = []string{ourControllerRuntime, ourFactory + "/metrics"}

// required has the modules whose versions tidemark and the program share.
var required = []string{clientGo, "k8s.io/api", "k8s.io/apimachinery"}

// moved has the packages of client-go for which tidemark has a package of the same name.
var moved = map[string]string{
	toolsCache:              ourInformer + "/cache",
	clientGo + "/informers": ourFactory + "/informers",
	clientGo + "/informers/internalinterfaces": ourFactory + "/internalinterfaces",
	clientGo + "/dynamic/dynamicinformer":      ourFactory + "/dynamicinformer",
	clientGo + "/metadata/metadatainformer":    ourFactory + "/metadatainformer",
}

// engine has the constructors in moved packages that run client-go's informers, or make parts of them. The
// other names in these packages are types and helpers.
var engine = map[string]*regexp.Regexp{
	toolsCache: regexp.MustCompile(`^(New|NewStore|NewIndexer|NewThreadSafeStore|NewFIFO|NewRealFIFO.*|NewDeltaFIFO.*|New(Named)?Reflector.*|` +
		`NewNamespaceKeyedIndexerAndReflector|NewUndeltaStore|New(Transforming)?(Indexer)?Informer|NewInformerWithOptions|NewShared(Index)?Informer(WithOptions)?)$`),
	clientGo + "/informers":                 regexp.MustCompile(`^New(Filtered)?SharedInformerFactory(WithOptions)?$`),
	clientGo + "/dynamic/dynamicinformer":   regexp.MustCompile(`^New`),
	clientGo + "/metadata/metadatainformer": regexp.MustCompile(`^New`),
	toolsWatch:                              regexp.MustCompile(`^(NewIndexerInformerWatcher|UntilWithSync)`),
}

// generated matches client-go's constructors of informers for one kind.
var generated = regexp.MustCompile(`^New(Typed)?(Filtered)?(\w+)Informer(WithOptions)?$`)

// constructor is the parsed name of a generated constructor of client-go.
type constructor struct {
	api   string // the package of the kind's Go type
	kind  string
	typed bool   // returns client-go's typed view
	ours  string // the generic function in package factory that replaces it
}

// constructorOf parses the name of a function. It returns false if the function is not a generated
// constructor.
func constructorOf(path, function string) (c constructor, ok bool) {
	group, below := strings.CutPrefix(path, kinds)
	parts := generated.FindStringSubmatch(function)
	if !below || parts == nil || strings.Count(group, "/") != 1 {
		return c, false
	}
	c = constructor{api: "k8s.io/api/" + group, kind: parts[3], typed: parts[1] != "", ours: "New" + parts[2] + "Informer" + parts[4]}
	return c, true
}

// arguments returns the number of arguments of the generic function.
func (c constructor) arguments() int {
	switch c.ours {
	case "NewFilteredInformer":
		return 5 // client, namespace, resync, indexers, tweak
	case "NewInformerWithOptions":
		return 3 // client, namespace, options
	}
	return 4 // client, namespace, resync, indexers
}

// hasEngine reports whether a package has functions that make informers of client-go, managers or caches.
func hasEngine(path string) bool {
	return engine[path] != nil || strings.HasPrefix(path, kinds) || managers[path] != "" || caches[path] != ""
}

// runsEngine reports whether a function makes informers of client-go, or parts of them.
func runsEngine(path, function string) bool {
	if names, ok := engine[path]; ok {
		return names.MatchString(function)
	}
	_, ok := constructorOf(path, function)
	return ok || function == "New" && strings.HasPrefix(path, kinds) // accessors, over any factory
}
