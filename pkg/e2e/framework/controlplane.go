// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"fmt"
	"path/filepath"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
)

// ControlPlane is a running cluster that serves boxes, as its administrator sees it.
type ControlPlane struct {
	// Dir is what localcluster was started with.
	Dir string
	// Config is the administrator's.
	Config        *rest.Config
	KubeClient    kubernetes.Interface
	ModelClient   versioned.Interface
	DynamicClient dynamic.Interface
}

// Connect returns the control plane that runs in a directory.
func Connect(dir string) (*ControlPlane, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("resolving %s: %w", dir, err)
	}
	p := &ControlPlane{Dir: dir}
	if p.Config, err = clientcmd.BuildConfigFromFlags("", p.Kubeconfig()); err != nil {
		return nil, fmt.Errorf("reading the administrator's kubeconfig: %w", err)
	}
	p.Config.QPS = -1 // the server sets the limits
	p.Config.WarningHandler = rest.NoWarnings{}
	if p.KubeClient, err = kubernetes.NewForConfig(p.Config); err != nil {
		return nil, fmt.Errorf("creating the cluster's client: %w", err)
	}
	if p.ModelClient, err = versioned.NewForConfig(p.Config); err != nil {
		return nil, fmt.Errorf("creating the client for boxes: %w", err)
	}
	if p.DynamicClient, err = dynamic.NewForConfig(p.Config); err != nil {
		return nil, fmt.Errorf("creating the client for all kinds: %w", err)
	}
	return p, nil
}

// Kubeconfig is the path of the administrator's.
func (p *ControlPlane) Kubeconfig() string { return filepath.Join(p.Dir, "kubeconfig") }

// pidFile names the process of a part of the control plane. The supervisor writes it anew at every start.
func (p *ControlPlane) pidFile(process string) string {
	return filepath.Join(p.Dir, "run", process+".pid")
}

// ClusterAuditLog is the path of the log of what the server asked of the cluster.
func (p *ControlPlane) ClusterAuditLog() string { return filepath.Join(p.Dir, "logs", "audit.log") }

// ServerAuditLog is the path of the log of every write that the server was asked for.
func (p *ControlPlane) ServerAuditLog() string {
	return filepath.Join(p.Dir, "logs", "modelbox-audit.log")
}
