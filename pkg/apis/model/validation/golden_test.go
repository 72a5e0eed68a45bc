// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestGoldenBoxesAreValid: what is pinned to be rendered has to be what the server accepts.
func TestGoldenBoxesAreValid(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()

	for _, folder := range []string{"../../../render/modelbox/testdata/*.box.yaml", "../../../../artifacts/samples/*.yaml"} {
		files, err := filepath.Glob(folder)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) == 0 {
			t.Errorf("there is no %s", folder)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, document := range strings.Split(string(data), "\n---\n") {
				object, _, err := decoder.Decode([]byte(document), nil, nil)
				if runtime.IsNotRegisteredError(err) {
					continue // It goes with a stack, as a Secret does.
				}
				if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				box, isBox := object.(*modelv1.ModelBox)
				if !isBox {
					continue
				}
				internal := &model.ModelBox{}
				box.Namespace = metav1.NamespaceDefault
				scheme.Default(box)
				if err := scheme.Convert(box, internal, nil); err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				if errs := ValidateModelBox(t.Context(), internal); len(errs) > 0 {
					t.Errorf("%s: box %s: %v", file, box.Name, errs.ToAggregate())
				}
			}
		}
	}
}
