// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}()

// readBoxes returns the boxes of a file as the server would hand them to the controller: decoded strictly, defaulted and
// with the metadata that the server sets. That they are valid the tests of the validation check, so that these here can
// do with the libraries of another Kubernetes; see hack/verify-renders.sh.
func readBoxes(t *testing.T, file string) []*modelv1.ModelBox {
	t.Helper()
	var boxes []*modelv1.ModelBox
	for _, document := range readDocuments(t, file) {
		box, err := decode(document)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		boxes = append(boxes, box)
	}
	return boxes
}

func readDocuments(t *testing.T, file string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var read [][]byte
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return read
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		read = append(read, document)
	}
}

func decode(document []byte) (*modelv1.ModelBox, error) {
	box := &modelv1.ModelBox{}
	codecs := serializer.NewCodecFactory(scheme, serializer.EnableStrict)
	if _, _, err := codecs.UniversalDeserializer().Decode(document, nil, box); err != nil {
		return nil, err
	}
	box.Namespace = metav1.NamespaceDefault
	box.UID = "4ec5d55a-0000-4000-8000-000000000000"
	box.Generation = 1
	scheme.Default(box)

	return box, nil
}

func children(t *testing.T, box *modelv1.ModelBox) []*unstructured.Unstructured {
	t.Helper()
	return childrenScaledBy(t, ScaledByBox, box)
}

func childrenScaledBy(t *testing.T, scaling Scaling, box *modelv1.ModelBox) []*unstructured.Unstructured {
	t.Helper()
	children, err := Children(box, scaling)
	if err != nil {
		t.Fatal(err)
	}
	return children
}
