// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"flag"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/json"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/fuzzer"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// maxChoices is the most choices that an edit is made by.
const maxChoices = 16

// FuzzPipeline takes boxes with random edits the way that a request takes them: decoded, defaulted, validated, warned
// about, rendered and printed.
func FuzzPipeline(f *testing.F) {
	boxes, everyField := fuzzer.Documents(f, "ModelBox", "../../../../artifacts/samples/*.yaml", "../../../render/modelbox/testdata/*.box.yaml"),
		fuzzer.Documents(f, "ModelBox", "../../../apis/model/v1/testdata/HEAD/*.yaml")
	editor := fuzzer.NewEditor(append(everyField, boxes...)...)
	for i := range boxes {
		f.Add(uint16(i), []byte{})
	}
	if flag.Lookup("test.fuzz").Value.String() == "" && !testing.Short() {
		addRandomEdits(f, len(boxes))
	}
	f.Fuzz(func(t *testing.T, seed uint16, choices []byte) {
		data, err := json.Marshal(editor.Edit(boxes[int(seed)%len(boxes)], choices))
		if err != nil {
			t.Fatal(err)
		}
		box, err := decode(data)
		if err != nil {
			return
		}
		expectSameAgain(t, box)
		expectPrinted(t, box)
		if isAccepted(t, box) {
			expectRendered(t, box)
			expectPodsOfTheirFields(t, box)
			expectUpdated(t, box)
		}
		if t.Failed() {
			t.Logf("the box:\n%s", data)
		}
	})
}

// addRandomEdits makes edits that are the same in each run. Fuzzing finds better edits, and would try each of these first.
func addRandomEdits(f *testing.F, boxes int) {
	f.Helper()
	edits := editsOfASeed
	if testing.Short() {
		edits = 1
	}
	random := rand.NewChaCha8([32]byte{})
	for i := range boxes {
		for edit := range edits {
			choices := make([]byte, 1+edit%maxChoices)
			_, _ = random.Read(choices) // never fails
			f.Add(uint16(i), choices)
		}
	}
}

// FuzzDecode takes bytes the same way that are no box, or hardly one.
func FuzzDecode(f *testing.F) {
	for _, document := range fuzzer.Documents(f, "ModelBox", "../../../../artifacts/samples/*.yaml", "../../../apis/model/v1/testdata/HEAD/*.yaml") {
		data, err := json.Marshal(document)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
		box, err := decode(data)
		if err != nil {
			f.Fatal(err)
		}
		for _, mediaType := range mediaTypes {
			f.Add(encode(f, box, mediaType))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		box, err := decode(data)
		if err != nil {
			return
		}
		expectPrinted(t, box)
		if isAccepted(t, box) {
			expectRendered(t, box)
		}
	})
}

var (
	codecs = serializer.NewCodecFactory(scheme)
	// mediaTypes are those that are stored. YAML has no control characters, which some fields may have.
	mediaTypes = []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf}
)

// decode returns the box as the registry gets it: converted and defaulted.
func decode(data []byte) (*model.ModelBox, error) {
	object, err := runtime.Decode(codecs.UniversalDecoder(model.SchemeGroupVersion), data)
	if err != nil {
		return nil, err
	}
	box, ok := object.(*model.ModelBox)
	if !ok {
		return nil, errors.New("it is no ModelBox")
	}
	return box, nil
}

func encode(t testing.TB, box *model.ModelBox, mediaType string) []byte {
	t.Helper()
	info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
	if !ok {
		t.Fatalf("%s is not supported", mediaType)
	}
	data, err := runtime.Encode(codecs.EncoderForVersion(info.Serializer, modelv1.SchemeGroupVersion), box)
	if err != nil {
		t.Fatalf("encoding as %s: %v", mediaType, err)
	}
	return data
}

// expectSameAgain checks that a box stays what it is however often it is stored and read, in each encoding: that its
// defaults are filled in once and for all.
func expectSameAgain(t *testing.T, box *model.ModelBox) {
	t.Helper()
	for _, mediaType := range mediaTypes {
		again, err := decode(encode(t, box, mediaType))
		if err != nil {
			t.Fatalf("decoding its own %s: %v", mediaType, err)
		}
		if !apiequality.Semantic.DeepEqual(box, again) {
			t.Errorf("stored as %s and read again it is another box:\n%s", mediaType, cmp.Diff(box, again))
		}
	}
}

// expectPrinted checks that a box can be printed and selected, whatever it is.
func expectPrinted(t *testing.T, box *model.ModelBox) {
	t.Helper()
	table, err := TableConvertor.ConvertToTable(t.Context(), box, nil)
	if err != nil {
		t.Fatalf("printing: %v", err)
	}
	if len(table.Rows) != 1 || len(table.Rows[0].Cells) != len(columns) {
		t.Errorf("it is printed as %v", table.Rows)
	}
	if _, _, err := GetAttrs(box); err != nil {
		t.Errorf("selecting: %v", err)
	}
}

// isAccepted creates the box like the generic store. A refusal must name the wrong field.
func isAccepted(t *testing.T, box *model.ModelBox) bool {
	t.Helper()
	if box.Namespace == "" {
		box.Namespace = metav1.NamespaceDefault
	}
	strategy := newStrategy(box)
	ctx := inNamespace(t, box.Namespace)
	rest.FillObjectMetaSystemFields(box)
	if box.Name == "" && box.GenerateName != "" {
		box.Name = strategy.GenerateName(box.GenerateName)
	}
	err := rest.BeforeCreate(strategy, ctx, box)
	expectFields(t, err)
	return err == nil
}

// expectUpdated checks that what was accepted may stay as it is, and that nothing that is updated to it, or from it,
// fails in another way than by being refused.
func expectUpdated(t *testing.T, box *model.ModelBox) {
	t.Helper()
	ctx, strategy := inNamespace(t, box.Namespace), newStrategy(box)
	box.ResourceVersion = "7"
	if err := rest.BeforeUpdate(strategy, ctx, box.DeepCopy(), box); err != nil {
		t.Errorf("it may not stay what was accepted: %v", err)
	}
	other := webBox(func(other *model.ModelBox) {
		other.ObjectMeta = *box.ObjectMeta.DeepCopy()
	})
	for _, update := range []struct{ box, old *model.ModelBox }{{box.DeepCopy(), other}, {other.DeepCopy(), box}} {
		expectFields(t, rest.BeforeUpdate(strategy, ctx, update.box, update.old))
	}
}

// expectFields checks that a refusal names the fields that it is about.
func expectFields(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || len(status.Status().Details.Causes) == 0 {
		t.Fatalf("it is refused without a field: %v", err)
	}
	for _, cause := range status.Status().Details.Causes {
		if !strings.HasPrefix(cause.Field, "metadata") && !strings.HasPrefix(cause.Field, "spec") {
			t.Errorf("it is refused for the field %q: %s", cause.Field, cause.Message)
		}
		if cause.Type == metav1.CauseType("InternalError") {
			t.Errorf("%s: %s", cause.Field, cause.Message)
		}
	}
}

func inNamespace(t *testing.T, namespace string) context.Context {
	return genericapirequest.WithNamespace(t.Context(), namespace)
}
