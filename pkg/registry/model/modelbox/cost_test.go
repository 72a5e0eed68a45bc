// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package modelbox

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"runtime"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/klog/v2"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/fuzzer"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/costtest"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render/boxview"
	modelboxrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/modelbox"
)

const (
	// maxCost is how much more memory a box may cost, at each step, than an ordinary one of the same size.
	maxCost = 8
	// maxDecodeCost is the maximum cost of decoding it: a volume of 2 bytes becomes a struct of 264 bytes.
	maxDecodeCost = 24
	// maxResponseBytes is the most that is said about a box that is refused.
	maxResponseBytes = 64 << 10
	// shortSample is of how many boxes a short test takes one.
	shortSample = 20
)

// costs are the bytes that are allocated at each step of what is done with a box.
type costs struct {
	decode, create, update, render, print uint64
}

// TestCost runs everything that the server does with a box on boxes that are made to be expensive. Memory is a measure for time as
// well: it is the same in each run, and code that takes long for the size of its input allocates. A refusal must be cheap.
func TestCost(t *testing.T) {
	if testing.Short() {
		t.Skip("it tries every hostile box")
	}
	silenceKlog(t)
	ordinary, response := costsOf(t, fuzzer.OrdinaryBox(maxSpecBytes-1<<10))
	if response > 0 {
		t.Fatal("the ordinary box is refused")
	}
	t.Logf("an ordinary box: %+v", ordinary)
	var highest costs
	count, longest := 0, 0
	for box := range fuzzer.HostileBoxes(maxSpecBytes - 1<<10) {
		count++
		if testing.Short() && count%shortSample != 0 {
			continue
		}
		got, response := costsOf(t, box.Spec)
		for _, step := range []struct {
			name          string
			got, ordinary uint64
			most          uint64
			highest       *uint64
		}{
			{"decode", got.decode, ordinary.decode, maxDecodeCost, &highest.decode},
			{"create", got.create, ordinary.create, maxCost, &highest.create},
			{"update", got.update, ordinary.update, maxCost, &highest.update},
			{"render", got.render, ordinary.render, maxCost, &highest.render},
			{"print", got.print, ordinary.create, 1, &highest.print},
		} {
			if step.got > step.most*step.ordinary {
				t.Errorf("%s: to %s costs %d bytes, an ordinary box %d", box.Name, step.name, step.got, step.ordinary)
			}
			*step.highest = max(*step.highest, step.got)
		}
		if response > maxResponseBytes {
			t.Errorf("%s: it is refused with %d bytes", box.Name, response)
		}
		longest = max(longest, response)
	}
	t.Logf("the most of %d boxes: %+v, a response of %d bytes", count, highest, longest)
}

// costsOf returns what a box costs, and the size of the response that refuses it, 0 for one that is accepted.
func costsOf(t *testing.T, spec modelv1.ModelBoxSpec) (c costs, response int) {
	t.Helper()
	data, err := json.Marshal(&modelv1.ModelBox{
		TypeMeta:   metav1.TypeMeta{APIVersion: modelv1.SchemeGroupVersion.String(), Kind: "ModelBox"},
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx := inNamespace(t, "default")
	var box *model.ModelBox
	c.decode = allocated(func() { box, err = decode(data) })
	if err != nil {
		return c, 0 // JSON has no such value
	}
	updated, old, strategy := box.DeepCopy(), webBox(), newStrategy()
	updated.ResourceVersion, updated.UID = old.ResourceVersion, old.UID
	rest.FillObjectMetaSystemFields(box)
	c.create = allocated(func() { err = rest.BeforeCreate(strategy, boxview.WithPodTemplates(ctx), box) })
	response = responseBytes(t, err)
	c.update = allocated(func() { err = rest.BeforeUpdate(strategy, boxview.WithPodTemplates(ctx), updated, old) })
	if response == 0 && err != nil {
		t.Errorf("what may be created may not be updated to: %.1000v", err)
	}
	response = max(response, responseBytes(t, err))
	if err != nil {
		return c, response
	}
	served, err := boxview.V1(box)
	if err != nil {
		t.Fatal(err)
	}
	c.render = allocated(func() { _, err = modelboxrender.Children(served, modelboxrender.Scaling{}) })
	if err != nil {
		t.Error(err)
	}
	c.print = allocated(func() { _, err = TableConvertor.ConvertToTable(ctx, box, nil) })
	if err != nil {
		t.Error(err)
	}
	return c, response
}

// TestCostOfStrategy counts the allocations of a box of usual size and of a box with an overlay. It looks at the pod template of the
// latter afterwards as Pod Security does, which gets copies of the boxes: a request renders each box once, however often other code
// looks at it.
func TestCostOfStrategy(t *testing.T) {
	meter := costtest.NewMeter(t, "strategy")
	overlaid := func(box *model.ModelBox) {
		box.Spec.PodTemplate = &corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			NodeSelector: map[string]string{"disk": "ssd"},
			Containers:   []corev1.Container{{Name: "web", Env: []corev1.EnvVar{{Name: "LEVEL", Value: "4"}}}},
		}}
	}
	strategy := newStrategy()
	for _, row := range []struct {
		suffix string
		box    *model.ModelBox
	}{{"", realBox(t)}, {" of a box with an overlay", webBox(overlaid)}} {
		ctx, old := inNamespace(t, "default"), row.box
		meter.Allocations("create"+row.suffix, func() {
			ctx, box := boxview.WithPodTemplates(ctx), old.DeepCopy()
			box.ResourceVersion = ""
			rest.FillObjectMetaSystemFields(box)
			if err := rest.BeforeCreate(strategy, ctx, box); err != nil {
				t.Fatal(err)
			}
			podTemplate(t, ctx, box.DeepCopy())
		})
		meter.Allocations("update"+row.suffix, func() {
			ctx, box, old := boxview.WithPodTemplates(ctx), old.DeepCopy(), old.DeepCopy()
			box.Spec.Image = "nginx:1.8"
			if err := rest.BeforeUpdate(strategy, ctx, box, old); err != nil {
				t.Fatal(err)
			}
			podTemplate(t, ctx, box.DeepCopy())
			podTemplate(t, ctx, old.DeepCopy())
		})
		meter.Allocations("print"+row.suffix, func() {
			if _, err := TableConvertor.ConvertToTable(ctx, row.box, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// realBox returns the box whose cost is counted, with the metadata and the status of webBox.
func realBox(t *testing.T) *model.ModelBox {
	t.Helper()
	data, err := json.Marshal(costtest.Box(t))
	if err != nil {
		t.Fatal(err)
	}
	box, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	stored := webBox()
	box.UID, box.ResourceVersion, box.Generation, box.Status = stored.UID, stored.ResourceVersion, stored.Generation, stored.Status
	return box
}

func podTemplate(t *testing.T, ctx context.Context, box *model.ModelBox) *corev1.PodTemplateSpec {
	t.Helper()
	template, err := boxview.PodTemplate(ctx, box)
	if err != nil {
		t.Fatal(err)
	}
	return template
}

// allocated returns the bytes that are allocated meanwhile, freed or not.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// responseBytes returns the size of the response with the error, 0 for none.
func responseBytes(t *testing.T, err error) int {
	t.Helper()
	if err == nil {
		return 0
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		t.Fatal(err)
	}
	data, err := json.Marshal(status.Status())
	if err != nil {
		t.Fatal(err)
	}
	return len(data)
}

// silenceKlog keeps the library from logging what it cannot parse.
func silenceKlog(t *testing.T) {
	t.Helper()
	state := klog.CaptureState()
	t.Cleanup(state.Restore)
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{"-logtostderr=false"}); err != nil {
		t.Fatal(err)
	}
	klog.SetOutput(io.Discard)
}
