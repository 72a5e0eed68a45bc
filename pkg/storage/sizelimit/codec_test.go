// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package sizelimit

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage/storagebackend"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// plainCodec returns the codec of boxes without limits.
var plainCodec = func() runtime.Codec {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return serializer.NewCodecFactory(scheme).LegacyCodec(modelv1.SchemeGroupVersion)
}()

func limitedCodec(t *testing.T) runtime.Codec {
	t.Helper()
	config := storagebackend.NewDefaultConfig("/registry", plainCodec)
	options, err := WithLimits(generic.RESTOptions{StorageConfig: config.ForResource(schema.GroupResource{})}).GetRESTOptions(schema.GroupResource{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return options.StorageConfig.Codec
}

// boxWith returns a box with the given bytes of annotations, and the given number of managed fields entries and bytes for each
// entry.
func boxWith(annotation, entries, bytes int) *model.ModelBox {
	box := &model.ModelBox{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: "web", Annotations: map[string]string{"note": strings.Repeat("n", annotation)},
	}}
	for i := range entries {
		box.ManagedFields = append(box.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: fmt.Sprintf("manager-%d", i), Operation: metav1.ManagedFieldsOperationApply, APIVersion: "model.github.com/v1",
			FieldsType: "FieldsV1", FieldsV1: &metav1.FieldsV1{Raw: []byte(`{"f:` + strings.Repeat("a", bytes) + `":{}}`)},
		})
	}
	return box
}

func TestObjectsWithinTheLimitsAreWritten(t *testing.T) {
	for _, row := range []struct {
		name string
		box  *model.ModelBox
		// message is a part of the error, empty for no error.
		message string
	}{
		{"an ordinary box", boxWith(100, 2, 1000), ""},
		{"the maximum number of managers", boxWith(0, MaxManagedFieldsEntries, 10), ""},
		{"one manager more", boxWith(0, MaxManagedFieldsEntries+1, 10), "metadata.managedFields has 101 entries, limit is 100"},
		{"large managed fields", boxWith(0, 1, MaxManagedFieldsBytes-200), ""},
		{"managed fields that are too large", boxWith(0, 2, MaxManagedFieldsBytes/2), "bytes, limit is 1048576: clear them"},
		{"a box that is too large", boxWith(MaxObjectBytes, 0, 0), "bytes in the store, limit is 1572864"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, err := runtime.Encode(limitedCodec(t), row.box)
			if row.message == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var tooLarge *TooLargeError
			if !errors.As(err, &tooLarge) {
				t.Fatalf("got %v", err)
			}
			if status := tooLarge.Status(); status.Code != http.StatusRequestEntityTooLarge || !strings.Contains(status.Message, row.message) {
				t.Errorf("got %d %s, want %q", status.Code, status.Message, row.message)
			}
			// The handlers of k8s.io/apiserver detect the error by these.
			if tooLarge.Code() != codes.InvalidArgument || tooLarge.Error() != rpctypes.ErrRequestTooLarge.Error() {
				t.Errorf("got %s %s", tooLarge.Code(), tooLarge)
			}
		})
	}
}

func TestManagedFieldsOfEarlierReleasesAreDropped(t *testing.T) {
	for _, row := range []struct {
		name string
		box  *model.ModelBox
		want int
	}{
		{"within the limits", boxWith(0, 2, 1000), 2},
		{"too many", boxWith(0, MaxManagedFieldsEntries+1, 10), 0},
		{"too large", boxWith(0, 2, MaxManagedFieldsBytes), 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			stored, err := runtime.Encode(plainCodec, row.box)
			if err != nil {
				t.Fatal(err)
			}
			box := &model.ModelBox{}
			utilruntime.Must(runtime.DecodeInto(limitedCodec(t), stored, box))
			if got := len(box.ManagedFields); got != row.want {
				t.Errorf("%d managers, want %d", got, row.want)
			}
			if _, err := runtime.Encode(limitedCodec(t), box); err != nil {
				t.Errorf("the box cannot be written: %v", err)
			}
		})
	}
}
