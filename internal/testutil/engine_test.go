package testutil_test

import (
	"regexp"
	"strings"
	"testing"
)

// An engineRule forbids names of a package that contains parts of client-go's engine. This module may
// use the other names of the package, such as interfaces.
type engineRule struct {
	pkg    *regexp.Regexp // an import path
	names  *regexp.Regexp // the forbidden names
	except *regexp.Regexp // exceptions among these names; may be nil
	why    string
}

var engineRules = []engineRule{
	{
		pkg:   regexp.MustCompile(`^k8s\.io/client-go/tools/cache$`),
		names: regexp.MustCompile(`^New`),
		except: regexp.MustCompile(`^New(ListWatchFromClient|FilteredListWatchFromClient|GenericLister|ObjectName|InformerName|CacheMutationDetector|` +
			`TypedSharedIndexInformer|IntegerResourceVersionMutationCache(WithOptions)?|Heap|RetryWithDeadline)$`),
		why: "its reflectors, queues, stores and informers are what this module replaces",
	},
	{
		// In the package of an API group, New makes the accessors of any factory. Constructors such as
		// NewPodInformer run client-go's informer. NewInformerFunc is the type of such a constructor.
		pkg:    regexp.MustCompile(`(^|/)informers(/|$)`),
		names:  regexp.MustCompile(`^New.*(Informer|Factory)`),
		except: regexp.MustCompile(`^NewInformerFunc$`),
		why:    "generated informers and their factory run client-go's informer",
	},
	{
		pkg:   regexp.MustCompile(`^k8s\.io/client-go/(dynamic/dynamicinformer|metadata/metadatainformer)$`),
		names: regexp.MustCompile(`^New`),
		why:   "these factories run client-go's informer",
	},
	{
		pkg:   regexp.MustCompile(`^k8s\.io/client-go/tools/watch$`),
		names: regexp.MustCompile(`^(NewIndexerInformerWatcher|UntilWithSync)`),
		why:   "these run client-go's informer",
	},
}

// clientgoReflector is the constructor of client-go's reflector. Two files may use it, because the watch
// error handlers of informers and controllers get such a reflector as an argument. This reflector only
// has a name, and never runs.
const clientgoReflector = "NewReflectorWithOptions"

func makesClientgoReflector(s *source) bool {
	return strings.HasPrefix(s.base(), "clientgo") || s.path == "informer/cache/controller.go"
}

// lentContainers are the constructors of client-go's queues and stores. This module does not use them.
// informer/cache only passes them on to users, in one file.
var lentContainers = regexp.MustCompile(`^New(RealFIFO|RealFIFOWithOptions|FIFO|ThreadSafeStore|TTLStore|ExpirationStore|FakeExpirationStore)$`)

func lendsContainers(s *source) bool { return s.path == "informer/cache/theirs.go" }

// measuresEngine reports whether a source makes client-go's informers to compare them with this
// module's.
func measuresEngine(s *source) bool { return s.path == "cmd/compare/library.go" }

func TestNoBorrowedEngine(t *testing.T) {
	report(t, engineProblems(repository(t)))
}

// engineProblems checks all uses, not only calls, because an alias of a constructor also gives users the
// engine.
func engineProblems(sources []*source) []string {
	var problems []string
	for _, s := range sources {
		if s.isTest() || measuresEngine(s) {
			continue
		}
		for u := range s.uses() {
			for _, rule := range engineRules {
				if rule.forbids(s, u) {
					problems = append(problems, s.problem(u.at, "%s of %s must not be used: %s", u.name, u.pkg, rule.why))
				}
			}
		}
	}
	return problems
}

func (r engineRule) forbids(s *source, u use) bool {
	switch {
	case strings.HasPrefix(u.pkg, module+"/"), !r.pkg.MatchString(u.pkg):
		return false
	case u.name == ".":
		return true // names of a dot import look like the file's own names
	case u.name == clientgoReflector && makesClientgoReflector(s):
		return false
	case lentContainers.MatchString(u.name) && lendsContainers(s):
		return false
	}
	return r.names.MatchString(u.name) && (r.except == nil || !r.except.MatchString(u.name))
}

func TestEngineRulesCanFail(t *testing.T) {
	const (
		cache     = "k8s.io/client-go/tools/cache"
		informers = "k8s.io/client-go/informers"
		dynamic   = "k8s.io/client-go/dynamic/dynamicinformer"
		metadata  = "k8s.io/client-go/metadata/metadatainformer"
	)
	using := func(pkg, name string) string {
		return "package x\n\nimport alias \"" + pkg + "\"\n\nvar _ = alias." + name + "\n"
	}
	var snippets []snippet
	forbid := func(pkg string, names ...string) {
		for _, n := range names {
			snippets = append(snippets, snippet{n, "informer/a.go", using(pkg, n), n + " of " + pkg})
		}
	}
	allow := func(pkg string, names ...string) {
		for _, n := range names {
			snippets = append(snippets, snippet{n, "informer/a.go", using(pkg, n), ""})
		}
	}
	forbid(cache, "NewReflector", "NewNamedReflector", clientgoReflector, "NewNamespaceKeyedIndexerAndReflector",
		"NewDeltaFIFO", "NewDeltaFIFOWithOptions", "NewRealFIFO", "NewRealFIFOWithOptions", "NewFIFO",
		"NewStore", "NewIndexer", "NewThreadSafeStore", "NewTTLStore", "NewExpirationStore", "NewUndeltaStore",
		"New", "NewInformer", "NewInformerWithOptions", "NewIndexerInformer", "NewTransformingInformer", "NewTransformingIndexerInformer",
		"NewSharedInformer", "NewSharedIndexInformer", "NewSharedIndexInformerWithOptions")
	forbid(informers, "NewSharedInformerFactory", "NewSharedInformerFactoryWithOptions", "NewFilteredSharedInformerFactory")
	forbid(informers+"/core/v1", "NewPodInformer", "NewFilteredPodInformer", "NewTypedPodInformer", "NewPodInformerWithOptions")
	forbid("example.com/widgets/generated/informers/externalversions", "NewSharedInformerFactory")
	forbid(dynamic, "NewDynamicSharedInformerFactory", "NewFilteredDynamicSharedInformerFactory", "NewFilteredDynamicInformer")
	forbid(metadata, "NewSharedInformerFactory", "NewFilteredMetadataInformer")
	forbid("k8s.io/client-go/tools/watch", "NewIndexerInformerWatcher", "NewIndexerInformerWatcherWithLogger", "UntilWithSync")

	allow(cache, "ListerWatcher", "Indexers", "NewListWatchFromClient", "NewGenericLister", "NewInformerName", "WaitForCacheSync",
		"NewTypedSharedIndexInformer", "NewIntegerResourceVersionMutationCacheWithOptions") // they wrap their argument
	allow(informers, "SharedInformerFactory", "WithTransform")
	allow(informers+"/core", "New")
	allow(informers+"/internalinterfaces", "NewInformerFunc")
	allow(dynamic, "DynamicSharedInformerFactory")
	allow(module+"/informer/cache", "NewSharedIndexInformer")
	allow(module+"/factory/informers", "NewSharedInformerFactory")
	snippets = append(snippets,
		snippet{"the reflector of an informer's error handler", "informer/clientgo_errors.go", using(cache, clientgoReflector), ""},
		snippet{"the reflector of a controller's error handler", "informer/cache/controller.go", using(cache, clientgoReflector), ""},
		snippet{"a reflector that runs", "informer/cache/reflector.go", using(cache, clientgoReflector), clientgoReflector + " of"},
		snippet{"another constructor in the same file", "informer/clientgo_errors.go", using(cache, "NewReflector"), "NewReflector of"},
		snippet{"a queue for users", "informer/cache/theirs.go", using(cache, "NewRealFIFO"), ""},
		snippet{"a queue in another file", "informer/cache/controller.go", using(cache, "NewRealFIFO"), "NewRealFIFO of"},
		snippet{"an informer for users", "informer/cache/theirs.go", using(cache, "NewSharedInformer"), "NewSharedInformer of"},
		snippet{"without an alias", "informer/a.go", "package x\n\nimport \"" + cache + "\"\n\nvar _ = cache.NewStore(nil)\n", "NewStore"},
		snippet{"with type arguments", "informer/a.go", "package x\n\nimport \"" + cache + "\"\n\nvar _ = cache.NewStore[int]\n", "NewStore"},
		snippet{"a dot import", "informer/a.go", "package x\n\nimport . \"" + cache + "\"\n", ". of "},
		snippet{"an example", "examples/a/main.go", using(cache, "NewStore"), "NewStore"},
		snippet{"a program that measures it", "cmd/compare/library.go", using(informers, "NewSharedInformerFactory"), ""},
		snippet{"another file of this program", "cmd/compare/main.go", using(informers, "NewSharedInformerFactory"), "NewSharedInformerFactory of"},
		snippet{"a test", "informer/a_test.go", using(cache, "NewStore"), ""},
	)
	try(t, snippets, engineProblems)
}
