// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package claimresize warns of storage that is to grow and cannot, before the controller tries it.
//
// It is an admission plugin, as that of kube-apiserver is, and not a rule of validation: what a storage class allows is not
// the box's to know, and may change while the box stays.
package claimresize

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/boxwrites"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// PluginName is the name of the plugin of kube-apiserver that refuses what this one warns of.
const PluginName = "PersistentVolumeClaimResize"

// patience is how long a request waits for what the cluster says of its claims. Without an answer it goes on: nothing but a
// warning is lost.
const patience = 2 * time.Second

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(io.Reader) (admission.Interface, error) { return newPlugin(), nil })
}

// Plugin warns of updates that let storage grow whose claim the cluster does not let grow. It refuses none: the storage class
// may come to allow it, and the controller tries again.
type Plugin struct {
	*admission.Handler
	client kubernetes.Interface
}

var (
	_ admission.ValidationInterface          = &Plugin{}
	_ initializer.WantsExternalKubeClientSet = &Plugin{}
)

func newPlugin() *Plugin {
	return &Plugin{Handler: admission.NewHandler(admission.Update)}
}

// SetExternalKubeClientSet lets the plugin ask for claims and storage classes.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) {
	p.client = client
}

// ValidateInitialization returns what keeps the plugin from working.
func (p *Plugin) ValidateInitialization() error {
	if p.client == nil {
		return errors.New("missing the client")
	}
	return nil
}

// Validate warns of storage that grows in vain.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	writes, err := boxwrites.Of(a)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	asking, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, write := range writes {
		for i := range write.Box.Spec.Storage {
			storage := &write.Box.Spec.Storage[i]
			if !grows(storage, write.Old) {
				continue
			}
			obstacle, err := p.obstacle(asking, write.Box, storage)
			if err != nil {
				klog.FromContext(ctx).V(2).Info("Not warning of storage that grows", "reason", err)
				return nil
			}
			if obstacle != "" {
				warning.AddWarning(ctx, "", fmt.Sprintf("%s: %s", write.Spec.Child("storage").Index(i).Child("size"), obstacle))
			}
		}
	}
	return nil
}

// grows returns whether storage is larger than the box had it.
func grows(storage *model.ModelBoxStorage, old *model.ModelBox) bool {
	if old == nil {
		return false
	}
	for i := range old.Spec.Storage {
		if before := &old.Spec.Storage[i]; before.Name == storage.Name {
			return storage.RequestedSize.Cmp(before.RequestedSize) > 0
		}
	}
	return false
}

// claimName is the claim of the storage, and for a StatefulSet that of its first pod, which is as good as any.
func claimName(box *model.ModelBox, storage *model.ModelBoxStorage) string {
	if box.Spec.Workload == model.WorkloadStatefulSet {
		return helper.PodClaimName(box.Name, storage.Name, 0)
	}
	return helper.ClaimName(box.Name, storage.Name)
}

// obstacle returns what keeps the claim of the box from growing to the size of the storage, "" where nothing does. Of a claim
// that is not the box's it says nothing.
func (p *Plugin) obstacle(ctx context.Context, box *model.ModelBox, storage *model.ModelBoxStorage) (string, error) {
	name := claimName(box, storage)
	claim, err := p.client.CoreV1().PersistentVolumeClaims(box.Namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && claim.Labels[modelv1.SelectorLabel] != box.Name {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading PersistentVolumeClaim %s: %w", name, err)
	}
	if request := claim.Spec.Resources.Requests[corev1.ResourceStorage]; request.Cmp(storage.RequestedSize) >= 0 {
		return "", nil
	}
	className := ptr.Deref(claim.Spec.StorageClassName, "")
	if className == "" {
		return fmt.Sprintf("PersistentVolumeClaim %s has no storage class, and cannot grow", name), nil
	}
	class, err := p.client.StorageV1().StorageClasses().Get(ctx, className, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("PersistentVolumeClaim %s cannot grow: there is no storage class %q", name, className), nil
	case err != nil:
		return "", fmt.Errorf("reading storage class %s: %w", className, err)
	case !ptr.Deref(class.AllowVolumeExpansion, false):
		return fmt.Sprintf("PersistentVolumeClaim %s cannot grow as long as allowVolumeExpansion of storage class %q is not true", name, className), nil
	}
	return "", nil
}
