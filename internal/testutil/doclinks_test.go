package testutil_test

import (
	"go/ast"
	"go/doc/comment"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestDocLinksLead(t *testing.T) {
	report(t, linkProblems(repository(t)))
}

// meantAsLink finds [Name], [Type.Method] and [pkg.Name] in what the comment parser has left as text.
var meantAsLink = regexp.MustCompile(`(?:^|[\s("])\[\*?([A-Z]\w*|\w+(?:\.\w+)+)\](?:$|[\s.,:;)"])`)

// linkProblems finds the links of comments that go doc does not show as links, because the package has
// no such exported name, and links to names that do not exist in another package of the module.
func linkProblems(sources []*source) []string {
	sources = slices.DeleteFunc(slices.Clone(sources), (*source).isTest)
	packages := map[string]*linked{}
	for _, s := range sources {
		p := packages[s.folder()]
		if p == nil {
			p = &linked{imports: map[string]string{s.file.Name.Name: ""}, names: map[string]bool{}, embeds: map[string][]string{}}
			packages[s.folder()] = p
		}
		p.add(s)
	}
	var problems []string
	for _, s := range sources {
		parser := packages[s.folder()].parser()
		for _, group := range s.file.Comments {
			for _, text := range spans(parser.Parse(group.Text())) {
				switch text := text.(type) {
				case comment.Plain:
					for _, m := range meantAsLink.FindAllStringSubmatch(string(text), -1) {
						problems = append(problems, s.problem(group.Pos(), "[%s] leads nowhere", m[1]))
					}
				case *comment.DocLink:
					folder, ours := strings.CutPrefix(text.ImportPath, module+"/")
					if to := packages[folder]; ours && to != nil && text.Name != "" && !to.has(text.Recv, text.Name) {
						problems = append(problems, s.problem(group.Pos(), "package %s has no %s", folder, text.Name))
					}
				}
			}
		}
	}
	return problems
}

// linked is everything that a package's comments can link to.
type linked struct {
	imports map[string]string // import paths by name; the package's own path is empty
	names   map[string]bool   // such as Writer and Writer.Begin
	embeds  map[string][]string
}

func (p *linked) parser() *comment.Parser {
	return &comment.Parser{
		LookupPackage: func(name string) (string, bool) {
			if to, ok := p.imports[name]; ok {
				return to, true
			}
			return comment.DefaultLookupPackage(name)
		},
		LookupSym: p.has,
	}
}

// has reports whether go doc shows a name. It shows methods of embedded unexported types as the type's
// own.
func (p *linked) has(recv, name string) bool {
	return p.names[strings.TrimPrefix(recv+"."+name, ".")] ||
		slices.ContainsFunc(p.embeds[recv], func(embedded string) bool { return p.has(embedded, name) })
}

// add adds the imports and names of a file.
func (p *linked) add(s *source) {
	for to, spec := range s.imports() {
		name := path.Base(to)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		p.imports[name] = to
	}
	for _, d := range s.file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			of := ""
			if d.Recv != nil {
				of = typeName(d.Recv.List[0].Type)
			}
			p.names[strings.TrimPrefix(of+"."+d.Name.Name, ".")] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				p.addSpec(spec)
			}
		}
	}
}

func (p *linked) addSpec(spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			p.names[name.Name] = true
		}
	case *ast.TypeSpec:
		p.names[spec.Name.Name] = true
		var members *ast.FieldList
		switch of := spec.Type.(type) {
		case *ast.StructType:
			members = of.Fields
		case *ast.InterfaceType:
			members = of.Methods
		default:
			return
		}
		for _, member := range members.List {
			for _, name := range member.Names {
				p.names[spec.Name.Name+"."+name.Name] = true
			}
			if of := typeName(member.Type); member.Names == nil && !ast.IsExported(of) {
				p.embeds[spec.Name.Name] = append(p.embeds[spec.Name.Name], of)
			}
		}
	}
}

// typeName returns the name of T in *T and T[P]. It returns "" for a type of another package.
func typeName(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.StarExpr:
		return typeName(of.X)
	case *ast.IndexExpr:
		return typeName(of.X)
	case *ast.IndexListExpr:
		return typeName(of.X)
	}
	return ""
}

// spans returns the texts of a comment, without its code.
func spans(doc *comment.Doc) (all []comment.Text) {
	var walk func([]comment.Block)
	walk = func(blocks []comment.Block) {
		for _, b := range blocks {
			switch b := b.(type) {
			case *comment.Paragraph:
				all = append(all, b.Text...)
			case *comment.Heading:
				all = append(all, b.Text...)
			case *comment.List:
				for _, item := range b.Items {
					walk(item.Content)
				}
			}
		}
	}
	walk(doc.Content)
	return all
}

func TestLinkRuleCanFail(t *testing.T) {
	const declarations = "import \"fmt\"\n\ntype Table[T any] struct {\n\tentry\n\tSize int\n}\n\ntype entry struct{ wanted int }\n\nfunc (*entry) Enter() {}\n\nfunc (t *Table[T]) Watch() {}\n\nvar _ fmt.Stringer\n"
	var rows []snippet
	for text, want := range map[string]string{
		"a type: [Table]":                    "",
		"a pointer: [*Table]":                "",
		"a method: [Table.Watch]":            "",
		"a field: [Table.Size]":              "",
		"an embedded method: [Table.Enter]":  "",
		"an import: [fmt.Stringer]":          "",
		"the standard library: [io.EOF]":     "",
		"the package: [indexer.Table]":       "",
		"an interval: [0, 1)":                "",
		"an element: m[Key]":                 "",
		"a flag: [flags]":                    "",
		"code:\n//\n//\tx [Missing]":         "",
		"a name that was removed: [Missing]": "[Missing] leads nowhere",
		"a removed method: [Table.Unwatch]":  "[Table.Unwatch] leads nowhere",
		"an unexported one: [entry.wanted]":  "[entry.wanted] leads nowhere",
		"an unknown package: [other.Name]":   "[other.Name] leads nowhere",
	} {
		rows = append(rows, snippet{text, "indexer/doc.go", "// Package indexer has " + text + ".\npackage indexer\n\n" + declarations, want})
	}
	try(t, rows, linkProblems)
	t.Run("another package", func(t *testing.T) {
		other := parse(t, "shard/doc.go", "// Package shard uses [indexer.Gone] and [indexer.Table].\npackage shard\n\nimport \"github.com/tidemark-k8s/tidemark/indexer\"\n\nvar _ indexer.Table\n")
		expect(t, linkProblems([]*source{parse(t, "indexer/doc.go", "package indexer\n\n"+declarations), other}), "package indexer has no Gone")
	})
}
