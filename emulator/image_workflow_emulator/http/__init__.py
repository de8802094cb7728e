"""HTTP for the service and the control plane: requests, answers and problems. Must not know either of them."""
