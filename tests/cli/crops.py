"""swav.py of pipelines/python/methods with a small encoder of images of any size."""
import pathlib
import runpy
import sys
import types

methods = pathlib.Path(__file__).parents[2] / "pipelines/python/methods"
sys.path[:0] = [str(methods), str(methods.parent)]
sys.modules["torchvision"] = types.ModuleType("torchvision")  # takes long to import
import parts
import torch

torch.set_num_threads(1)
nn = parts.nn
parts.device = "cpu"
parts.resnet18 = lambda: nn.Sequential(
    nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 512, 3, 2, 1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten())
runpy.run_path(str(methods / "swav.py"))
