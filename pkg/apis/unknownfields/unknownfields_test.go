// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package unknownfields

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// later is a field that no type has.
var later = protowire.AppendString(protowire.AppendTag(nil, 5000, protowire.BytesType), "later")

func TestVerifyKnowsEveryFieldThatThisReleaseEncodes(t *testing.T) {
	for kind, of := range map[string]reflect.Type{
		"ModelBox":   reflect.TypeFor[modelv1.ModelBox](),
		"ModelStack": reflect.TypeFor[modelv1.ModelStack](),
		"Network":    reflect.TypeFor[modelv1.Network](),
	} {
		t.Run(kind, func(t *testing.T) {
			stored, err := os.ReadFile(filepath.Join("..", "model", "v1", "testdata", "HEAD", "model.github.com.v1."+kind+".pb"))
			if err != nil {
				t.Fatal(err)
			}
			envelope := &runtime.Unknown{}
			if err := envelope.Unmarshal(stored[len("k8s\x00"):]); err != nil {
				t.Fatal(err)
			}
			if err := Verify(envelope.Raw, of); err != nil {
				t.Error(err)
			}
			if err := Verify(append(envelope.Raw, later...), of); err == nil {
				t.Error("a field that no type has is not found")
			}
		})
	}
}

func TestVerifyNamesWhereAFieldIsThatWouldBeLost(t *testing.T) {
	// within puts a message into others, from the inside out.
	within := func(message []byte, numbers ...protowire.Number) []byte {
		for _, number := range numbers {
			message = protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), message)
		}
		return message
	}
	for _, row := range []struct {
		name string
		data []byte
		want *Error
	}{
		{"of the object", later, &Error{Number: 5000}},
		{"of the metadata", within(later, 1), &Error{Path: "metadata", Number: 5000}},
		{"of the spec", within(later, 2), &Error{Path: "spec", Number: 5000}},
		{"of an element of a list", within(later, 14, 2), &Error{Path: "spec.containers", Number: 5000}},
		{"of a type of Kubernetes that JSON has inline", within(later, 1, 16, 2), &Error{Path: "spec.readinessProbe", Number: 5000}},
		{"empty", within(protowire.AppendVarint(protowire.AppendTag(nil, 5000, protowire.VarintType), 0), 2), &Error{Path: "spec", Number: 5000}},
		{"of the status", within(later, 3), nil},
		{"of a status of the spec", within(later, 3, 14, 2), nil},
		{"incomplete", within(later, 2)[:4], nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got *Error
			if err := Verify(row.data, reflect.TypeFor[modelv1.ModelBox]()); err != nil && !errors.As(err, &got) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestVerifyLooksIntoWhatEncodesItself(t *testing.T) {
	box := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", CreationTimestamp: metav1.Unix(1, 2)}}
	box.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}}
	box.Spec.RollingUpdate = &modelv1.RollingUpdate{Type: modelv1.RollingUpdateString, StrVal: "30%"}
	box.Spec.Replicas = ptr.To[int32](0)
	data, err := box.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if err := Verify(data, reflect.TypeFor[modelv1.ModelBox]()); err != nil {
		t.Error(err)
	}
}

func BenchmarkVerify(b *testing.B) {
	stored, err := os.ReadFile(filepath.Join("..", "model", "v1", "testdata", "HEAD", "model.github.com.v1.ModelBox.pb"))
	if err != nil {
		b.Fatal(err)
	}
	envelope := &runtime.Unknown{}
	if err := envelope.Unmarshal(stored[len("k8s\x00"):]); err != nil {
		b.Fatal(err)
	}
	b.Run("Verify", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := Verify(envelope.Raw, reflect.TypeFor[modelv1.ModelBox]()); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Unmarshal", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := (&modelv1.ModelBox{}).Unmarshal(envelope.Raw); err != nil {
				b.Fatal(err)
			}
		}
	})
}
