package pack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"
	"weak"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tidemark-k8s/tidemark/internal/testutil/chance"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit"
	"github.com/tidemark-k8s/tidemark/internal/testutil/kit/cluster"
	"github.com/tidemark-k8s/tidemark/internal/verify"
)

var errGarbage = errors.New("garbage")

// decoded is what the kinds of these tests decode: the bytes themselves.
type decoded struct {
	text string
	form Form
}

// newTexts returns a kind whose objects are texts. Their metadata is the first word.
func newTexts() *Kind {
	return NewKind(Options{
		Decode: func(data []byte, f Form) (any, error) {
			if bytes.HasPrefix(data, []byte("garbage")) {
				return nil, errGarbage
			}
			return &decoded{string(data), f}, nil
		},
		Meta: func(data []byte, _ Form) (any, error) {
			first, _, _ := bytes.Cut(data, []byte(" "))
			return string(first), nil
		},
	})
}

// text makes bytes that have little in common with others, and no digits.
func text(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('g' + r.IntN(20))
	}
	return b
}

// sibling makes the bytes of an object of a family: those of a template, but for what follows from
// its number and some that are random.
func sibling(r *rand.Rand, template []byte, i int) []byte {
	b := bytes.Clone(template)
	if len(b) > 0 {
		b[r.IntN(len(b))]++
	}
	return fmt.Appendf(b, " number %d, id %016x", i, r.Uint64())
}

func pack(t testing.TB, k *Kind, namespace, name string, data []byte) *Object {
	t.Helper()
	o, err := k.Pack(namespace, name, data, Event)
	require.NoError(t, err)
	return o
}

func requireBytes(t testing.TB, want []byte, o *Object) {
	t.Helper()
	got, err := o.Undo(nil)
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
}

func TestAnObjectIsThreeWords(t *testing.T) {
	require.EqualValues(t, 3*unsafe.Sizeof(uintptr(0)), unsafe.Sizeof(Object{}))
}

func TestObjectsOfAFamilyHaveOneBase(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 1))
	web, db := text(r, 3000), text(r, 3000)
	first := pack(t, k, "n", "web-0", web)
	require.Same(t, &k.root, first.base)
	other := pack(t, k, "n", "db-0", db)
	require.Same(t, &k.root, other.base)
	for i := range 100 {
		data := sibling(r, web, i)
		o := pack(t, k, "n", fmt.Sprintf("web-%d", i), data)
		require.Same(t, first, o.base)
		require.Less(t, o.Size(), int64(100))
		requireBytes(t, data, o)
	}
	requireBytes(t, web, first)
	requireBytes(t, db, other)
}

func TestAFamilyTakesOverTheBaseOfItsNamesakes(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 2))
	template := text(r, 3000)
	first := pack(t, k, "n", "web-0", template)
	require.Same(t, first, pack(t, k, "m", "web-0", sibling(r, template, 1)).base)
	require.Same(t, first, pack(t, k, "m", "web-1", sibling(r, template, 2)).base, "it is the family's own now")
	template = text(r, 3000)
	unlike := pack(t, k, "o", "web-0", template)
	require.Same(t, &k.root, unlike.base)
	require.Same(t, unlike, pack(t, k, "o", "web-1", sibling(r, template, 3)).base)
}

func TestABaseThatWasPendingIsReplaced(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 3))
	pending, running := text(r, 2000), text(r, 4000)
	running = append(bytes.Clone(pending), running...)
	first := pack(t, k, "n", "web-0", pending)
	for i := range 2 {
		require.Same(t, first, pack(t, k, "n", "web-1", sibling(r, running, i)).base)
	}
	second := pack(t, k, "n", "web-2", sibling(r, running, 2))
	require.Same(t, &k.root, second.base)
	require.Same(t, second, pack(t, k, "n", "web-3", sibling(r, running, 3)).base)
}

func TestWhatIsLargeIsNoBase(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 4))
	template := text(r, maxBase)
	large := bytes.Repeat(template, 2)
	for i := range 4 {
		o := pack(t, k, "n", "web-0", large)
		require.Same(t, &k.root, o.base, i)
		requireBytes(t, large, o)
	}
	base := pack(t, k, "n", "web-0", template)
	require.Same(t, &k.root, base.base)
	for i := range 20 {
		o := pack(t, k, "n", "web-1", append(bytes.Clone(large), byte(i)))
		require.Same(t, base, o.base, "but it may have one, although it does not fit")
	}
	require.LessOrEqual(t, len(k.dictionary.Load().data), maxBase)
	_, err := k.Pack("n", "web-0", make([]byte, maxSize+1), Event)
	require.ErrorIs(t, err, ErrTooLarge)
}

func TestTheDictionaryOnlyGrows(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 5))
	var before []byte
	objects := map[*Object][]byte{}
	for i := range 100 {
		data := text(r, 2000)
		objects[pack(t, k, "n", fmt.Sprintf("w%d-0", i), data)] = data
		now := k.dictionary.Load().data
		require.True(t, bytes.HasPrefix(now, before))
		require.LessOrEqual(t, len(now), maxBase)
		before = now
	}
	require.Greater(t, len(before), maxBase-2000)
	for o, data := range objects {
		requireBytes(t, data, o)
	}
	known := objects[pack(t, k, "n", "a-0", before[1000:5000])]
	require.Nil(t, known)
	require.Same(t, &before[0], &k.dictionary.Load().data[0], "it learns nothing that it has")
}

func TestWhatHasNothingInCommonIsKeptAsItIs(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 6))
	template := text(r, 1000)
	for i := range patience {
		data := text(r, 1000)
		o := pack(t, k, "n", fmt.Sprintf("w%d-0", i), data)
		require.True(t, o.isRaw())
		requireBytes(t, data, o)
	}
	for i := range restingFor {
		require.True(t, pack(t, k, "n", "web-0", sibling(r, template, i)).isRaw(), i)
	}
	pack(t, k, "n", "web-0", template)
	require.False(t, pack(t, k, "n", "web-0", template).isRaw())
}

func TestForms(t *testing.T) {
	k := newTexts()
	for _, form := range []Form{Event, Item, Marshalled} {
		for _, name := range []string{"web-0", "web-1"} {
			data := strings.Repeat("ab cd ", 9) + name
			o, err := k.Pack("n", name, []byte(data), form)
			require.NoError(t, err)
			v, err := o.Decode()
			require.NoError(t, err)
			require.Equal(t, &decoded{data, form}, v)
			again, err := o.Decode()
			require.NoError(t, err)
			require.NotSame(t, v, again)
			m, err := o.Meta()
			require.NoError(t, err)
			require.Equal(t, "ab", m)
		}
	}
}

func TestReadsThatFail(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 7))
	_, err := pack(t, k, "n", "web-0", []byte("garbage of any kind")).Decode()
	require.ErrorIs(t, err, errGarbage)

	template := text(r, 1000)
	base := pack(t, k, "n", "db-0", template)
	o := pack(t, k, "n", "db-1", sibling(r, template, 1))
	broken := &Object{base: o.base, blob: newBlob([]byte("\xff"), 0)}
	ofBroken := &Object{base: &Object{base: &k.root, blob: broken.blob}, blob: o.blob}
	for name, o := range map[string]*Object{"itself": broken, "of its base": ofBroken} {
		for range 3 {
			_, err = o.Undo(nil)
			require.ErrorIs(t, err, ErrDamaged, name)
			_, err = o.Decode()
			require.ErrorIs(t, err, ErrDamaged, name)
			_, err = o.Meta()
			require.ErrorIs(t, err, ErrDamaged, name)
		}
	}
	base.blob = broken.blob
	for range mostPoor {
		_, err = k.Pack("n", "db-2", template, Event)
		require.ErrorIs(t, err, ErrDamaged)
	}
	requireBytes(t, template, pack(t, k, "n", "db-3", template)) // the family has another base
	runtime.KeepAlive(base)
}

func TestPinnedObjects(t *testing.T) {
	k := newTexts()
	for _, obj := range []any{&decoded{text: "any"}, kit.Pod("a", "1"), 7, nil} {
		o := k.Pin(obj)
		require.True(t, o.IsPinned())
		require.EqualValues(t, unsafe.Sizeof(*o), o.Size())
		for _, read := range []func() (any, error){o.Decode, o.Meta} {
			v, err := read()
			require.NoError(t, err)
			require.Equal(t, obj, v)
		}
		_, err := o.Undo(nil)
		require.ErrorIs(t, err, ErrPinned)
	}
}

func TestABaseLivesAsLongAsAnObjectNeedsIt(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 8))
	template := text(r, 1000)
	base := weak.Make(pack(t, k, "n", "web-0", template))
	data := sibling(r, template, 1)
	o := pack(t, k, "n", "web-1", data)
	for range 3 { // it is open
		requireBytes(t, data, o)
	}
	pack(t, k, "n", "web-1", data)
	pack(t, k, "n", "web-1", data)
	runtime.GC()
	require.NotNil(t, base.Value())
	requireBytes(t, data, o)
	runtime.GC()
	require.Nil(t, base.Value())
	require.Same(t, &k.root, pack(t, k, "n", "web-2", data).base, "the family begins anew")
}

// FuzzKind packs random objects of few families, replaces and forgets them, and compares them with
// plain bytes.
func FuzzKind(f *testing.F) {
	chance.Fuzz(f, func(t *testing.T, more func() bool, r *rand.Rand) {
		k, plain := newTexts(), map[string][]byte{}
		objects := map[string]*Object{}
		templates := [4][]byte{}
		fixed := rand.New(rand.NewPCG(1, 9))
		for i := range templates {
			templates[i] = text(fixed, 100<<i)
		}
		for more() {
			namespace, family := fmt.Sprintf("n%d", r.IntN(2)), r.IntN(len(templates))
			name := fmt.Sprintf("w%d-%d", family, r.IntN(8))
			key := namespace + "/" + name
			switch r.IntN(8) {
			case 0:
				delete(plain, key)
				delete(objects, key)
			case 1:
				templates[family] = text(fixed, r.IntN(2000))
			case 2:
				runtime.GC()
			default:
				data := sibling(fixed, templates[family], r.IntN(100))
				o, err := k.Pack(namespace, name, data, Form(r.IntN(3)))
				require.NoError(t, err)
				plain[key], objects[key] = data, o
			}
			k.check(t)
			if o := objects[key]; o != nil {
				requireBytes(t, plain[key], o)
			}
		}
		for key, o := range objects {
			requireBytes(t, plain[key], o)
		}
	})
}

// check panics if an invariant of the kind does not hold.
func (k *Kind) check(t *testing.T) {
	t.Helper()
	for _, s := range []*openBases{&k.toRead, &k.toSearch} {
		var sum int64
		for i := range s.slots {
			if b := s.slots[i].kept.Load(); b != nil {
				sum += b.size()
				if base := b.of.Value(); base != nil {
					requireBytes(t, b.data, base)
				}
			}
		}
		require.Equal(t, sum, s.bytes.Load())
		require.LessOrEqual(t, sum, int64(mostOpen))
	}
	require.LessOrEqual(t, k.Size(), int64(2*mostOpen+3*maxBase+2*maxBase+familySize*mostFamilies))
}

func TestOpenBasesAreBounded(t *testing.T) {
	k, r := newTexts(), rand.New(rand.NewPCG(1, 10))
	var bases, objects []*Object
	for i := range 100 {
		template := text(r, 30_000)
		bases = append(bases, pack(t, k, "n", fmt.Sprintf("w%d-0", i), template))
		for range 3 {
			objects = append(objects, pack(t, k, "n", fmt.Sprintf("w%d-1", i), template))
			requireBytes(t, template, objects[len(objects)-1])
		}
		k.check(t)
	}
	require.Greater(t, k.toRead.bytes.Load(), int64(mostOpen-30_000))
	require.Greater(t, k.toSearch.bytes.Load(), int64(mostOpen-50_000))
	runtime.KeepAlive(bases)
}

// TestAnyGoroutineMayUseAKind packs and reads at once. Each object is compared with its plain bytes by
// all readers.
func TestAnyGoroutineMayUseAKind(t *testing.T) {
	k := newTexts()
	const families, each = 100, 20
	type packed struct {
		data   []byte
		object *Object
	}
	all := make(chan packed, families*each)
	var wg sync.WaitGroup
	for g := range 2 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(g)))
			for i := range families * each / 2 {
				name := fmt.Sprintf("w%d-%d", i%families, i)
				data := sibling(r, bytes.Repeat([]byte(name[:3]), 500), i)
				o, err := k.Pack("n", name, data, Event)
				assert.NoError(t, err)
				all <- packed{data, o}
			}
		})
	}
	for range 4 {
		wg.Go(func() {
			var buffer []byte
			for range families * each / 2 {
				p := <-all
				v, err := p.object.Decode()
				assert.NoError(t, err)
				assert.Equal(t, string(p.data), v.(*decoded).text)
				buffer, err = p.object.Undo(buffer[:0])
				assert.NoError(t, err)
				assert.Equal(t, string(p.data), string(buffer))
				_ = k.Size()
				all <- p
			}
		})
	}
	wg.Wait()
	k.check(t)
}

func TestPodsTakeFewBytes(t *testing.T) {
	for _, c := range []struct{ each, most int64 }{{100, 210}, {5, 320}} {
		k, size, pod := NewKind(Options{}), int64(0), workloads(int(c.each))
		for i := range 500 {
			e := encode(t, pod(i))
			o := pack(t, k, e.namespace, e.name, e.data)
			requireBytes(t, e.data, o)
			size += o.Size()
		}
		require.Less(t, size/500, c.most, "of 5,200, with %d a family", c.each)
	}
}

// TestObjectsOfAllKinds packs them in both encodings.
func TestObjectsOfAllKinds(t *testing.T) {
	for _, kind := range cluster.New(1, 100).Kinds() {
		inJSON, inProtobuf := NewKind(Options{}), NewKind(Options{})
		for i := range min(kind.Count, 20) {
			o := kind.Make(i)
			data, err := json.Marshal(o)
			require.NoError(t, err)
			requireBytes(t, data, pack(t, inJSON, o.GetNamespace(), o.GetName(), data))
			if m, ok := o.(interface{ Marshal() ([]byte, error) }); ok {
				data, err = m.Marshal()
				require.NoError(t, err)
				requireBytes(t, data, pack(t, inProtobuf, o.GetNamespace(), o.GetName(), data))
			}
		}
	}
}

// TestAllocations expects no more than the object and its blob.
func TestAllocations(t *testing.T) {
	k, r := NewKind(Options{}), rand.New(rand.NewPCG(1, 11))
	template := text(r, 5000)
	data := sibling(r, template, 1)
	base, o := pack(t, k, "n", "web-0", template), pack(t, k, "n", "web-1", data)
	var buffer []byte
	for range 3 {
		pack(t, k, "n", "web-1", data)
		buffer, _ = o.Undo(buffer[:0])
	}
	most := 2.0
	if verify.On {
		most = 10 // what is packed is undone, and compared
	}
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = k.Pack("n", "web-1", data, Event) }), most)
	require.Zero(t, testing.AllocsPerRun(100, func() { buffer, _ = o.Undo(buffer[:0]) }))
	runtime.KeepAlive(base)
}
