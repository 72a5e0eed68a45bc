// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/value"
	"k8s.io/apiserver/pkg/warning"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/registrytest"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/compression"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/versionskew"
)

const (
	boxesPrefix     = "/model.github.com/modelboxes"
	encryptedPrefix = "encrypted:"
)

// encryption marks what is encrypted.
type encryption struct{}

func (encryption) TransformToStorage(_ context.Context, data []byte, _ value.Context) ([]byte, error) {
	return append([]byte(encryptedPrefix), data...), nil
}

func (encryption) TransformFromStorage(_ context.Context, data []byte, _ value.Context) ([]byte, bool, error) {
	data, isEncrypted := bytes.CutPrefix(data, []byte(encryptedPrefix))
	if !isEncrypted {
		return nil, false, errors.New("not encrypted")
	}
	return data, false, nil
}

// failingCodec fails to encode a box of the name "full", as etcd fails to store it when it has no space.
type failingCodec struct{ runtime.Codec }

func (c failingCodec) Encode(object runtime.Object, w io.Writer) error {
	if box, isBox := object.(*model.ModelBox); isBox && box.Name == "full" {
		return rpctypes.ErrNoSpace
	}
	return c.Codec.Encode(object, w)
}

// encrypted is the storage of a generic API server that encrypts.
type encrypted struct{ options generic.RESTOptions }

func (e encrypted) GetRESTOptions(schema.GroupResource, runtime.Object) (generic.RESTOptions, error) {
	options, config := e.options, *e.options.StorageConfig
	config.Transformer, config.Codec = encryption{}, failingCodec{config.Codec}
	options.StorageConfig = &config
	return options, nil
}

// warnings are the texts of warnings.
type warnings []string

func (w *warnings) AddWarning(_, text string) { *w = append(*w, text) }

// TestOrderOfDecorators has a case for each promise of the list of decorators.
func TestOrderOfDecorators(t *testing.T) {
	backend := registrytest.NewBackend(t, model.Resource("modelboxes"), &model.ModelBox{})
	var failure error
	getter, runner, err := Config{Fail: func(err error) { failure = err }}.decorate(encrypted{backend.Options})
	if err != nil {
		t.Fatal(err)
	}
	options, err := getter.GetRESTOptions(model.Resource("modelboxes"), &model.ModelBox{})
	if err != nil {
		t.Fatal(err)
	}
	boxes, destroy, err := options.Decorator(options.StorageConfig, boxesPrefix, nil,
		func() runtime.Object { return &model.ModelBox{} }, func() runtime.Object { return &model.ModelBoxList{} }, nil, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(destroy)
	create := func(name string) error {
		box := &model.ModelBox{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		return boxes.Create(t.Context(), boxesPrefix+"/default/"+name, box, &model.ModelBox{}, 0)
	}

	t.Run("compressed, then encrypted", func(t *testing.T) {
		if err := create("web"); err != nil {
			t.Fatal(err)
		}
		stored, err := backend.Etcd.Get(t.Context(), "/registry"+boxesPrefix+"/default/web")
		if err != nil || len(stored.Kvs) != 1 {
			t.Fatalf("got %v, %v", stored, err)
		}
		if got := string(stored.Kvs[0].Value); !strings.HasPrefix(got, encryptedPrefix+compression.Prefix) {
			t.Errorf("got %q", got)
		}
		box := &model.ModelBox{}
		if err := boxes.Get(t.Context(), boxesPrefix+"/default/web", storage.GetOptions{}, box); err != nil || box.Name != "web" {
			t.Errorf("got %q, %v", box.Name, err)
		}
	})
	t.Run("an object of a later release ends the server, and is left out with a warning", func(t *testing.T) {
		const later = `{"apiVersion":"model.github.com/v1","kind":"ModelBox","metadata":{"namespace":"default","name":"later"},"spec":{"future":true}}`
		if _, err := backend.Etcd.Put(t.Context(), "/registry"+boxesPrefix+"/default/later", encryptedPrefix+later); err != nil {
			t.Fatal(err)
		}
		var texts warnings
		ctx := warning.WithWarningRecorder(t.Context(), &texts)
		for range 2 { // the first one finds the object
			list := &model.ModelBoxList{}
			if err := boxes.GetList(ctx, boxesPrefix+"/", storage.ListOptions{Recursive: true, Predicate: storage.Everything}, list); err != nil {
				t.Fatal(err)
			}
			if len(list.Items) != 1 || list.Items[0].Name != "web" {
				t.Errorf("got %v", list.Items)
			}
		}
		if !errors.Is(failure, versionskew.ErrStored) {
			t.Errorf("the server still runs: %v", failure)
		}
		if corrupt := runner.Corrupt.Objects(); len(corrupt) != 1 || corrupt[0].Name != "later" {
			t.Errorf("the recovery knows of %v", corrupt)
		}
		if len(texts) != 1 || !strings.Contains(texts[0], "default/later") {
			t.Errorf("got the warnings %q", texts)
		}
	})
	t.Run("an error of etcd becomes a status", func(t *testing.T) {
		if err := create("full"); apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
			t.Errorf("got %v", err)
		}
	})
}
