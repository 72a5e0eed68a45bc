// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"math/rand/v2"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/json"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/fuzzer"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	modelstackrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelstack"
)

const (
	// editsOfAStack is the number of random edits of each stack without fuzzing.
	editsOfAStack = 8
	// maxChoices is the maximum number of choices of an edit.
	maxChoices = 6
)

var decoder = serializer.NewCodecFactory(scheme).UniversalDecoder(model.SchemeGroupVersion)

// FuzzStack creates random stacks and updates them to other random stacks. The API accepts the boxes of every stack that it accepts, so
// that no stack fails only when its boxes are written.
func FuzzStack(f *testing.F) {
	stacks := fuzzer.Documents(f, "ModelStack", "../../../../artifacts/samples/*.yaml", "../../../render/modelstack/testdata/*.stack.yaml")
	stacks = append(stacks, stacksOf(fuzzer.Documents(f, "ModelBox", "../../../../artifacts/samples/*.yaml", "../../../render/modelbox/testdata/*.box.yaml"))...)
	everyField := fuzzer.Documents(f, "ModelStack", "../../../apis/model/v1/testdata/HEAD/*.yaml")
	editor := fuzzer.NewEditor(append(everyField, stacks...)...)
	random := rand.New(rand.NewChaCha8([32]byte{}))
	for i := range stacks {
		f.Add(uint16(i), []byte{}, []byte{})
		for range editsOfAStack {
			f.Add(uint16(i), choices(random), choices(random))
		}
	}
	f.Fuzz(func(t *testing.T, seed uint16, choices, further []byte) {
		document := stacks[int(seed)%len(stacks)]
		old := editedStack(t, editor.Edit(document, choices))
		if old == nil {
			return
		}
		rest.FillObjectMetaSystemFields(old)
		ctx := genericapirequest.WithNamespace(t.Context(), old.Namespace)
		if rest.BeforeCreate(newStrategy(), ctx, old) != nil {
			return
		}
		oldBoxes := expectBoxesAccepted(t, old, nil)
		stack := editedStack(t, editor.Edit(document, further))
		if stack == nil {
			return
		}
		spec := stack.Spec
		stack = old.DeepCopy()
		stack.Spec, stack.ResourceVersion, old.ResourceVersion = spec, "1", "1"
		if rest.BeforeUpdate(newStrategy(), ctx, stack, old) == nil {
			expectBoxesAccepted(t, stack, oldBoxes)
		}
	})
}

// stacksOf returns a stack of each box and the next one, which depends on it if it has ports. Every second stack is isolated.
func stacksOf(boxes []any) []any {
	stacks := make([]any, len(boxes))
	for i := range boxes {
		first, second := specOf(boxes[i]), specOf(boxes[(i+1)%len(boxes)])
		component := map[string]any{"name": "second", "box": second}
		if first["ports"] != nil {
			component["dependsOn"] = []any{"first"}
		}
		stacks[i] = map[string]any{
			"apiVersion": "model.github.com/v1", "kind": "ModelStack", "metadata": map[string]any{"name": "shop"},
			"spec": map[string]any{"isolate": i%2 == 0, "components": []any{map[string]any{"name": "first", "box": first}, component}},
		}
	}
	return stacks
}

func specOf(document any) map[string]any {
	return document.(map[string]any)["spec"].(map[string]any)
}

func choices(random *rand.Rand) []byte {
	choices := make([]byte, random.IntN(maxChoices))
	for i := range choices {
		choices[i] = byte(random.UintN(256))
	}
	return choices
}

// editedStack returns nil for a document that is no ModelStack.
func editedStack(t *testing.T, document any) *model.ModelStack {
	t.Helper()
	stack, _ := decode(t, document).(*model.ModelStack)
	if stack != nil && stack.Namespace == "" {
		stack.Namespace = metav1.NamespaceDefault
	}
	return stack
}

// decode returns the object with its defaults, or nil for a document that cannot be decoded.
func decode(t *testing.T, document any) runtime.Object {
	t.Helper()
	data, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	object, err := runtime.Decode(decoder, data)
	if err != nil {
		return nil
	}
	return object
}

// expectBoxesAccepted creates the boxes of the stack, or updates the box of the same name if it is one of old. It returns the boxes by
// name.
func expectBoxesAccepted(t *testing.T, stack *model.ModelStack, old map[string]*model.ModelBox) map[string]*model.ModelBox {
	t.Helper()
	served := &modelv1.ModelStack{}
	if err := modelv1.Convert_model_ModelStack_To_v1_ModelStack(stack.DeepCopy(), served, nil); err != nil {
		t.Fatal(err)
	}
	strategy, renderer := newStrategy().boxes, modelstackrender.NewRenderer(served)
	ctx := genericapirequest.WithNamespace(t.Context(), stack.Namespace)
	boxes := map[string]*model.ModelBox{}
	for i := range served.Spec.Components {
		component := &served.Spec.Components[i]
		if component.Box == nil {
			continue
		}
		children, err := renderer.Children(component, false)
		if err != nil {
			t.Fatalf("rendering component %s: %v", component.Name, err)
		}
		box, isBox := decode(t, children[0].Object).(*model.ModelBox)
		if !isBox {
			t.Fatalf("component %s is rendered as %v", component.Name, children[0].Object)
		}
		boxes[box.Name] = box
		before := old[box.Name]
		if before == nil {
			rest.FillObjectMetaSystemFields(box)
			err = rest.BeforeCreate(strategy, ctx, box)
		} else {
			box.UID, box.CreationTimestamp, box.ResourceVersion = before.UID, before.CreationTimestamp, "1"
			before.ResourceVersion = "1"
			err = rest.BeforeUpdate(strategy, ctx, box, before)
		}
		if err != nil {
			t.Errorf("the API accepts the stack, but not the box of component %s: %v", component.Name, err)
		}
	}
	return boxes
}
