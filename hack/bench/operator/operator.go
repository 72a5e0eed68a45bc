// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package operator is the peer that turns custom resources into Deployments and Services: an operator as kubebuilder
// scaffolds it, with the logic of the tutorial that most begin with.
package operator

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"

	"github.com/sharelinuxs/modelbox-apiserver/hack/bench/definition"
)

// Options are what there is to choose.
type Options struct {
	Kubeconfig string
	// Workers is how many boxes are reconciled at the same time; 0 is what controller-runtime has by default, which is 1.
	Workers int
	// Namespace is the only one that it looks at; empty for all.
	Namespace string
	// Started is called when the caches are filled and the workers run.
	Started func()
}

// Run reconciles until ctx is done.
func Run(ctx context.Context, options Options) error {
	log.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(definition.GroupVersion, &modelv1.ModelBox{}, &modelv1.ModelBoxList{})
	metav1.AddToGroupVersion(scheme, definition.GroupVersion)
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return fmt.Errorf("building the scheme: %w", err)
	}
	config, err := clientcmd.BuildConfigFromFlags("", options.Kubeconfig)
	if err != nil {
		return fmt.Errorf("reading the kubeconfig: %w", err)
	}
	// What config.GetConfig of controller-runtime sets: priority and fairness is the limit.
	config.QPS = -1
	cached := cache.Options{}
	if options.Namespace != "" {
		cached.DefaultNamespaces = map[string]cache.Config{options.Namespace: {}}
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Cache:   cached,
		Metrics: metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return fmt.Errorf("creating the manager: %w", err)
	}
	reconciler := &Reconciler{Client: manager.GetClient(), Scheme: manager.GetScheme()}
	err = ctrl.NewControllerManagedBy(manager).
		For(&modelv1.ModelBox{}).
		Owns(&appsv1.Deployment{}).
		Owns(&corev1.Service{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: options.Workers}).
		Complete(reconciler)
	if err != nil {
		return fmt.Errorf("creating the controller: %w", err)
	}
	go func() {
		if manager.GetCache().WaitForCacheSync(ctx) {
			options.Started()
		}
	}()
	if err := manager.Start(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}
