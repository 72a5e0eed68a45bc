// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package rest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	goruntime "runtime"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

// maxRecordAllocation is how much memory may be allocated for all that is done with a record, freed or not.
const maxRecordAllocation = 1 << 30

// recordOf returns the record that has the data in place of a box.
func recordOf(t testing.TB, data []byte) string {
	t.Helper()
	compressed := bytes.NewBuffer([]byte{1})
	writer := gzip.NewWriter(compressed)
	if _, err := writer.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(compressed.Bytes())
}

// FuzzRecord reads records that have any box, or hardly one, as history and rollback do: who can write ReplicaSets can write
// such a record.
func FuzzRecord(f *testing.F) {
	owner := &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: "web-uid"}, Spec: modelv1.ModelBoxSpec{Image: "nginx:1.29"}}
	modelv1.SetObjectDefaults_ModelBox(owner)
	for _, spec := range recordedSpecs(f) {
		box := &modelv1.ModelBox{ObjectMeta: owner.ObjectMeta, Spec: spec}
		data, err := box.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	scheme := runtime.NewScheme()
	install.Install(scheme)
	f.Fuzz(func(t *testing.T, data []byte) {
		var before, after goruntime.MemStats
		goruntime.ReadMemStats(&before)
		useRecord(t, scheme, owner, recordOf(t, data))
		useRecord(t, scheme, owner, string(data))
		goruntime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > maxRecordAllocation {
			t.Errorf("%d bytes are allocated", allocated)
		}
	})
}

// recordedSpecs are specs of boxes, with every field and with hardly one.
func recordedSpecs(f *testing.F) []modelv1.ModelBoxSpec {
	f.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "apis", "model", "v1", "testdata", "HEAD", "model.github.com.v1.ModelBox.json"))
	if err != nil {
		f.Fatal(err)
	}
	everyField := &modelv1.ModelBox{}
	if err := json.Unmarshal(data, everyField); err != nil {
		f.Fatal(err)
	}
	paused := everyField.DeepCopy()
	paused.Spec.Paused = true
	specs := []modelv1.ModelBoxSpec{everyField.Spec, paused.Spec, {}, {Paused: true}}
	for _, workload := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet} {
		paused := *paused.Spec.DeepCopy()
		paused.Workload = workload
		specs = append(specs, paused, modelv1.ModelBoxSpec{Paused: true, Workload: workload})
	}
	return specs
}

func useRecord(t *testing.T, scheme *runtime.Scheme, owner *modelv1.ModelBox, value string) {
	t.Helper()
	_ = modelboxrender.IsRecordOf(owner, value)
	revision := modelboxrender.Revision{Number: 1, ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{modelv1.RecordAnnotation: value}}}
	recorded, err := recordedBox(t.Context(), &revision, owner)
	newRevision(&revision, recorded, err)
	if err != nil {
		return
	}
	if _, err := modelbox.SpecChanges(&owner.Spec, &recorded.Spec); err != nil {
		t.Error(err)
	}
	box, earlier := &model.ModelBox{}, &model.ModelBox{}
	scheme.Default(recorded)
	for from, to := range map[*modelv1.ModelBox]*model.ModelBox{owner: box, recorded: earlier} {
		if err := modelv1.Convert_v1_ModelBox_To_model_ModelBox(from.DeepCopy(), to, nil); err != nil {
			t.Fatal(err)
		}
	}
	_ = rollBack(t.Context(), box, earlier, nil, 1)
}
